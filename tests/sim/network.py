"""Connections between agents and servers: ordered streams that stall, break and lose their tail.

As TCP does: what was sent before a process died still arrives, a partition holds back what is on
its way, and a connection that its owner gave up can deliver its bytes long after its successor's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim.world import MS, SECOND, Micros, Process, World

if TYPE_CHECKING:
    from sim.host import Host

# What an end gets when its connection has ended: a close code, or none if it just broke.
Closed = Callable[[int | None, str], None]


class ConnectionEnd:
    """One end of a connection, owned by a process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.hear: Callable[[Any], None] = lambda _: None
        self.hear_close: Closed = lambda *_: None
        self.is_open = True
        self.other: ConnectionEnd
        self.connection: Connection
        self._arrives_at: Micros = 0
        # Sent, but delayed by a partition.
        self.delayed: list[tuple[str, Any]] = []

    def send(self, message: Any) -> None:
        if self.is_open and self.process.is_alive:
            self._put("message", message)

    def close(self, code: int | None = None, reason: str = "") -> None:
        """Everything that was sent before arrives first."""
        if self.is_open:
            self.is_open = False
            self._put("close", (code, reason))

    def _put(self, kind: str, item: Any) -> None:
        world = self.process.world
        delay = world.long_tail(200, 20 * MS)
        if world.chance(0.01):
            delay += world.long_tail(0, 3 * SECOND)
        if self is self.connection.agent_end:
            delay += self.connection.lag
        self._arrives_at = max(self._arrives_at, world.now + delay)
        # It belongs to no process: bytes on the network survive their sender.
        world.push(self._arrives_at, None, (self._arrive, (kind, item)))

    def _arrive(self, kind: str, item: Any) -> None:
        if self.connection.is_cut:
            return
        if self.connection.host.is_cut_off or self.delayed:
            self.delayed.append((kind, item))
            return
        # It belongs to the receiver: a stopped process gets it when it continues, a dead one never.
        world = self.process.world
        world.push(world.now, self.other.process, (self.other._receive, (kind, item)))

    def _receive(self, kind: str, item: Any) -> None:
        if kind == "close":
            self._break(*item)
        elif self.is_open:
            self.hear(item)

    def _break(self, code: int | None, reason: str) -> None:
        if self.is_open:
            self.is_open = False
            self.hear_close(code, reason)

    def release(self) -> None:
        """The partition has ended: delayed messages arrive now, or a while later (a sender without
        responses retries less and less often)."""
        if self.delayed:
            world = self.process.world
            world.after(world.long_tail(0, 40 * SECOND), self._flush)

    def _flush(self) -> None:
        if not self.connection.host.is_cut_off and not self.connection.is_cut:
            items, self.delayed = self.delayed, []
            for kind, value in items:
                self._arrive(kind, value)


class Connection:
    def __init__(self, world: World, host: "Host", agent: Process, server: Process) -> None:
        self.world = world
        self.host = host
        self.is_cut = False
        # A network path so bad that messages of the agent take seconds.
        self.lag: Micros = world.long_tail(0, 14 * SECOND) if world.chance(host.lag) else 0
        self.agent_end, self.server_end = ConnectionEnd(agent), ConnectionEnd(server)
        for end, other in (
            (self.agent_end, self.server_end),
            (self.server_end, self.agent_end),
        ):
            end.other, end.connection = other, self
        host.connections.append(self)

    @property
    def ends(self) -> tuple[ConnectionEnd, ConnectionEnd]:
        return self.agent_end, self.server_end

    def release(self) -> None:
        for end in self.ends:
            end.release()

    def cut(self) -> None:
        """Break it: for both sides at once, which may notice soon, late or never, or for one side
        only, while messages that it had sent still arrive at the other."""
        if self.is_cut:
            return
        self.world.note("cut", self.host.name)
        if self.world.chance(0.4):
            end = self.world.random.choice(self.ends)
            self.world.after(0, end._break, None, "connection reset", of=end.process)
            return
        self.is_cut = True
        for end in self.ends:
            if self.world.chance(0.8):
                delay = self.world.long_tail(0, 60 * SECOND)
                self.world.after(delay, end._break, None, "connection reset", of=end.process)

    def lose_owner(self, owner: Process) -> None:
        """A process was killed: its kernel closes the connection, after everything that was
        sent."""
        for end in self.ends:
            if end.process is owner:
                end.close(None, "the other side died")
