"""The agent of a simulated host: the real link and session, over simulated sockets."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK
from websockets.frames import Close

from belvedere.agent import messages as agent_messages
from belvedere.agent.connection.server_link import ServerLink, network_dialer
from belvedere.agent.keeper_client import KeeperClient, KeeperFailed
from belvedere.agent.setup.enrolment import Credential
from sim import current_actor, upgrades
from sim.host import STATE, Host, KeeperProcess, ProcessDeath
from sim.loop import VirtualLoop
from sim.network import Connection, ConnectionEnd
from sim.world import MS, SECOND, Process

PING, PONG = object(), object()


class AgentProcess(Process):
    def __init__(self, host: Host, slots: int) -> None:
        super().__init__(host.world, f"agent of {host.name}")
        self.host = host
        self.loop = VirtualLoop(host.world, self, host.rate)  # type: ignore[abstract]
        self.main = self.loop.create_task(self._serve(slots))
        self.main.add_done_callback(self._check_end)
        host.agent = self
        self.world.note("agent", host.name)

    async def _serve(self, slots: int) -> None:
        host = self.host
        settings: Any = SimpleNamespace(
            server="http://belvedere.test",
            hostname=host.name,
            slots=slots,
            scripts_user="",
            min_free_bytes=0,
            min_free_inodes=0,
        )
        credential = Credential(token=host.id, host_id=host.id, customer="acme", hostname=host.name)
        await ServerLink(
            settings, STATE, credential, network_dialer(settings, credential, None)
        ).run()

    def _check_end(self, task: "asyncio.Task[None]") -> None:
        fault = task.exception()
        if not isinstance(fault, KeeperFailed):
            self.world.accuse(f"{self.name} ended by itself: {fault!r}")
        self.host.kill_agent()


class Transport(asyncio.Transport):
    """Agent and keeper, over a socket that cannot break while both run."""

    def __init__(self, process: AgentProcess, keeper: KeeperProcess) -> None:
        super().__init__()
        self.process = process
        self.keeper = keeper
        self.protocol = KeeperClient()
        self._is_lost = False
        # When the last bytes of each direction arrive: the next ones arrive after them.
        self._there_at = self._back_at = 0
        self.protocol.connection_made(self)

    def write(self, data: Any) -> None:
        if self.process.is_alive and data and not self._is_lost:
            world = self.process.world
            self._there_at = max(self._there_at, world.now + world.long_tail(10, MS))
            world.push(self._there_at, self.keeper, (self._deliver, (bytes(data),)))

    def _deliver(self, data: bytes) -> None:
        if self.keeper.socket.agent is self:
            self.keeper.hear(data)

    def arrive(self, data: bytes) -> None:
        world = self.process.world
        self._back_at = max(self._back_at, world.now + world.long_tail(10, MS))
        world.push(self._back_at, self.process, (self.protocol.data_received, (data,)))

    def is_closing(self) -> bool:
        return self._is_lost

    def lose(self) -> None:
        """The keeper closed the connection, or was killed."""
        if not self._is_lost:
            self._is_lost = True
            at = max(self._back_at, self.process.world.now)
            self.process.world.push(at, self.process, (self.protocol.connection_lost, (None,)))

    def close(self) -> None:
        if self.keeper.socket.agent is self:
            self.keeper.socket.drop()


async def connect_keeper(_: Any) -> KeeperClient:
    """Replaces agent/keeper_client.py: the running keeper, or a new one."""
    host = current_actor.agent_host()
    process: Any = host.agent
    await asyncio.sleep(host.world.random.random() * 0.06)
    keeper = host.keeper
    if keeper is None or not keeper.is_alive:
        keeper = KeeperProcess(host)
        try:
            keeper.start()
        except ProcessDeath:
            keeper.die()
            raise KeeperFailed("The keeper died while it started.") from None
        except OSError as fault:
            keeper.die()
            raise KeeperFailed(str(fault)) from None
        host.keeper = keeper
    transport = Transport(process, keeper)
    keeper.socket.accept(transport)
    return transport.protocol


class SimSocket:
    """Replaces a websockets client connection, including keep-alive."""

    local_address = ("192.0.2.8", 40_000)

    def __init__(
        self, end: ConnectionEnd, ping_s: float, patience_s: float, *, is_old: bool
    ) -> None:
        self._end = end
        self._is_old = is_old
        self._frames: list[Any] = []
        self._wake = asyncio.Event()
        self._listener: Callable[[Any], None] | None = None
        self._fault: Exception | None = None
        self._closed: Exception | None = None
        self._ping_s, self._patience_s = ping_s, patience_s
        self._waits_for_pong = 0
        end.hear, end.hear_close = self._hear, self._hear_close
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(ping_s, self._ping)

    def _hear(self, frame: Any) -> None:
        if frame is PONG:
            self._waits_for_pong = 0
        elif self._listener is not None:
            self._hand_over(frame)
        else:
            self._frames.append(frame)
            self._wake.set()

    def _hear_close(self, code: int | None, reason: str) -> None:
        close = None if code is None else Close(code, reason)
        is_normal = code in (1000, 1001)
        self._closed = (ConnectionClosedOK if is_normal else ConnectionClosedError)(close, None)
        self._wake.set()

    def _ping(self) -> None:
        if self._closed is not None or not self._end.is_open:
            return
        if self._waits_for_pong * self._ping_s >= self._patience_s:
            self._end.close(None, "no pong")
            self._hear_close(None, "keepalive ping timeout")
            return
        self._waits_for_pong += 1
        self._end.send(PING)
        self._loop.call_later(self._ping_s, self._ping)

    def has_room(self) -> bool:
        return self._closed is None

    async def room(self) -> None:
        if self._closed is not None:
            raise self._closed

    def send_messages(self, messages: Any) -> None:
        frame = agent_messages.frame(messages)
        self._end.send(upgrades.as_old_agent(frame) if self._is_old else frame)

    def send(self, frame: bytes) -> None:
        self._end.send(frame)

    async def recv(self) -> Any:
        while not self._frames:
            if self._closed is not None:
                raise self._closed
            self._wake.clear()
            await self._wake.wait()
        return self._frames.pop(0)

    async def listen(self, hear: Callable[[Any], None]) -> None:
        while self._frames:
            hear(self._frames.pop(0))
        self._listener = hear
        try:
            while self._closed is None and self._fault is None:
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._listener = None
        end = self._fault or self._closed
        if end is not None and not isinstance(end, ConnectionClosedOK):
            raise end

    def _hand_over(self, frame: Any) -> None:
        assert self._listener is not None
        try:
            self._listener(frame)
        except Exception as fault:
            self._fault, self._listener = fault, None
            self._wake.set()

    def close(self) -> None:
        self._end.close(1000, "")


class connect:  # noqa: N801  (it stands for websockets' own)
    """Replaces websockets.connect."""

    def __init__(self, _: str, **options: Any) -> None:
        self._options = options
        self._socket: SimSocket | None = None

    async def __aenter__(self) -> SimSocket:
        host = current_actor.agent_host()
        world = host.world
        await asyncio.sleep(world.long_tail(400, 40 * MS) / SECOND)
        server = host.find_server()
        if host.is_cut_off or (server is not None and server.is_paused):
            await asyncio.sleep(self._options["open_timeout"])
            raise TimeoutError("timed out during opening handshake")
        if server is None:
            raise ConnectionRefusedError("nobody listens")
        assert host.agent is not None
        connection = Connection(world, host, host.agent, server)
        self._socket = SimSocket(
            connection.agent_end,
            self._options["ping_interval"],
            self._options["ping_timeout"],
            is_old=host.has_old_agent,
        )
        server.accept(connection)
        return self._socket

    async def __aexit__(self, *_: object) -> None:
        assert self._socket is not None
        self._socket.close()


class SimCache:
    """Replaces agent/file_cache.py: the files on the host's disk."""

    def __init__(self, _: str) -> None:
        self._host = current_actor.agent_host()
        self._coming: dict[str, bytes] = {}

    def path(self, digest: str, filename: str) -> str | None:
        return f"/cache/{digest}/{filename}" if digest in self._host.cache else None

    def is_downloading(self, digest: str) -> bool:
        return digest in self._coming

    def expect(self, digest: str) -> None:
        self._coming[digest] = b""

    def feed(self, digest: str, data: bytes, *, last: bool) -> bool | None:
        if digest not in self._coming:
            return None
        self._coming[digest] += data
        if last:
            self._host.cache[digest] = self._coming.pop(digest)
        return last or None

    def abandon(self, digest: str) -> None:
        self._coming.pop(digest, None)

    def abandon_all(self) -> None:
        self._coming.clear()
