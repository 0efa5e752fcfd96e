"""A simulated machine: its disk, clock, processes and connections to the servers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from belvedere.agent import wire
from belvedere.agent.journal.journal import Journal
from belvedere.agent.keeper import recovery
from belvedere.agent.keeper.program import Keeper
from belvedere.agent.processes.script import NEVER
from belvedere.agent.state_folder import StateFolder
from sim import current_actor
from sim.disk import Disk
from sim.invariants import Invariants
from sim.keeper import assemble
from sim.network import Connection
from sim.scripts import Behaviour, SimProcess
from sim.world import MS, Micros, Process, World

STATE = StateFolder("/agent")


class Snapshot(NamedTuple):
    """A copy of the disk, when it was made, and how many hellos its journal had counted."""

    at: Micros
    greetings: int
    files: dict[str, bytes]


class ProcessDeath(BaseException):
    """The process is killed at this point."""


class Host:
    containment = "simulated"

    def __init__(
        self, world: World, truth: Invariants, host_id: str, name: str, rate: float
    ) -> None:
        self.world = world
        self.truth = truth
        self.id = host_id
        self.name = name
        # How fast its clock runs.
        self.rate = rate
        self.disk = Disk(world)
        self.boots = 1
        self.keeper: KeeperProcess | None = None
        self.agent: Process | None = None
        self.is_cut_off = False
        self.connections: list[Connection] = []
        self.started: list[SimProcess] = []
        # Scripts in the agent's cache, and whether each is complete.
        self.cache: dict[str, bytes] = {}
        self.behaviours: dict[str, Behaviour] = {}
        # Its faults, with the time: the reasons for which a job may be lost.
        self.mishaps: list[tuple[Micros, str]] = []
        # Probability of a crash: keeper at each step on its disk, agent at each named point.
        self.crash_chance = 0.0
        self.agent_crash_chance = 0.0
        # How often one of its connections is slow.
        self.lag = 0.0
        self.find_server: Callable[[], Any] = lambda: None
        self.snapshot: Snapshot | None = None
        # Its agent is of an earlier version than the server.
        self.has_old_agent = False
        # The keeper that is executing now, or is being started.
        self.starting_or_running: KeeperProcess

    def clock_ns(self) -> int:
        return int(self.world.now * self.rate) * 1_000

    def befell(self, text: str) -> None:
        self.world.note(text, self.name)
        self.mishaps.append((self.world.now, text))

    # Scripts

    def behaviour(self, order: dict[str, Any]) -> Behaviour:
        return self.behaviours[order["arguments"][0]]

    def spawn(self, order: dict[str, Any], behaviour: Behaviour) -> SimProcess:
        running = SimProcess(self, order["fence"], order["job_id"], behaviour)
        self.world.note("spawned", running.fence, running.job_id)
        self.truth.check_start(running)
        self.started.append(running)
        running.on_end = self._child_ended
        return running

    def _child_ended(self) -> None:
        if self.keeper is not None:
            self.world.after(self.world.long_tail(0, 5 * MS), self.keeper.turn, of=self.keeper)

    def alive(self) -> list[SimProcess]:
        return [running for running in self.started if running.is_alive]

    # Faults

    def kill_agent(self) -> None:
        if self.agent is not None and self.agent.is_alive:
            self.agent.kill()
            for connection in self.connections:
                connection.lose_owner(self.agent)
            if self.keeper is not None:
                self.keeper.hang_up(self.agent)

    def kill_keeper(self) -> None:
        if self.keeper is not None and self.keeper.is_alive:
            self.befell("keeper_killed")
            self.keeper.die()

    def reboot(self) -> None:
        """The power fails: no connection is closed properly."""
        self.befell("rebooted")
        if self.agent is not None:
            self.agent.kill()
        if self.keeper is not None:
            self.keeper.kill()
        for running in self.started:
            running.vanish()
        self.disk.lose_power()
        self.boots += 1

    def take_snapshot(self) -> None:
        if self.keeper is not None and self.keeper.is_alive:
            self.snapshot = Snapshot(self.world.now, self.keeper.greetings, self.disk.snapshot())

    def roll_back(self) -> None:
        """The machine is restored from its snapshot: like a reboot, with an older disk."""
        assert self.snapshot is not None
        self.reboot()
        self.befell("rolled_back")
        self.disk.restore(self.snapshot.files)

    def cut_off(self) -> None:
        self.is_cut_off = True
        self.world.note("cut_off", self.name)

    def reconnect(self) -> None:
        self.is_cut_off = False
        self.world.note("reconnected", self.name)
        for connection in self.connections:
            connection.release()


class KeeperProcess(Process):
    """Started by an agent, survives it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.world, f"keeper of {host.name}")
        self.host = host
        self.socket = SimControlSocket(self)
        self._wakes_at: Micros = -1
        self._heard: list[dict[str, Any]] = []
        self._keeper: Keeper | None = None

    def start(self) -> None:
        """OSError if the journal cannot be written; to the caller it looks like a keeper that does
        not start."""
        with self._acting():
            journal = Journal(STATE.journal)
            journal_state, _ = recovery.recover(STATE, journal)
            self._keeper = assemble(self.host, journal, journal_state, self.socket)
            self.world.note("keeper", self.host.name, len(journal_state.entries))

    @contextmanager
    def _acting(self) -> Iterator[None]:
        current_actor.acting = self.host
        self.host.starting_or_running = self
        self.host.disk.before = self.may_die
        try:
            yield
        finally:
            current_actor.acting = None
            self.host.disk.before = lambda: None

    def may_die(self) -> None:
        if self.world.chance(self.host.crash_chance):
            self.host.befell("keeper_killed")
            raise ProcessDeath

    def die(self) -> None:
        self.kill()
        self.socket.drop()

    def hear(self, line: bytes) -> None:
        self._heard += wire.JsonLines().feed(line)
        self.turn()

    def turn(self) -> None:
        """One iteration of its poll: receive, decide, write, act."""
        assert self._keeper is not None
        try:
            with self._acting():
                self._turn(self._keeper)
        except ProcessDeath:
            self.die()
            return
        self._sleep(self._keeper)

    def _turn(self, keeper: Keeper) -> None:
        _heard, self._heard = self._heard, []
        for message in _heard:
            keeper._take(keeper._handle(message))
        now = self.host.clock_ns()
        keeper._take(keeper._scripts.tick(now))
        keeper._settle()
        keeper._flush()
        if now >= keeper._write_at:
            keeper._make_durable()
        if keeper._is_over():
            self.world.note("keeper_left", self.host.name)
            self.die()

    def _sleep(self, keeper: Keeper) -> None:
        due = min(keeper._scripts.due, keeper._write_at, keeper._exit_at)
        if due == NEVER or not self.is_alive:
            return
        at = max(self.world.now + 1, int(due / 1_000 / self.host.rate) + 1)
        if not self.world.now < self._wakes_at <= at:
            self._wakes_at = at
            self.world.push(at, self, (self.turn, ()))

    @property
    def greetings(self) -> int:
        assert self._keeper is not None
        return self._keeper._journal_state.greetings

    @property
    def open_entries(self) -> int:
        assert self._keeper is not None
        return len(self._keeper._journal_state.entries)

    def hang_up(self, agent: Process) -> None:
        if self.socket.agent is not None and self.socket.agent.process is agent:
            self.socket.drop()
            self.world.after(1, self.turn, of=self)


class SimControlSocket:
    """Replaces agent/keeper/control_socket.py: one agent at a time, the newest one."""

    def __init__(self, keeper: KeeperProcess) -> None:
        self._keeper = keeper
        self.agent: Any = None
        self._out: list[bytes] = []

    @property
    def fd(self) -> int:
        return -1 if self.agent is None else 1

    def accept(self, agent: Any) -> None:
        self.drop()
        self.agent = agent

    def drop(self) -> None:
        agent, self.agent = self.agent, None
        self._out.clear()
        # Messages of the former agent that were not read are dropped.
        self._keeper._heard.clear()
        if agent is not None:
            agent.lose()

    def send(self, message: dict[str, Any]) -> None:
        if self.agent is not None:
            self._out.append(wire.pack(message))

    def flush(self) -> None:
        if self._out and self.agent is not None:
            data, self._out = b"".join(self._out), []
            self.agent.arrive(data)

    def is_gone(self) -> bool:
        return False
