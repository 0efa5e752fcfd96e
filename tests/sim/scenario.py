"""One seed, one simulation: clients send requests, faults happen, then everything recovers and is
checked."""

import logging
from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

from belvedere.db.sqlite.transaction import SqliteTx
from sim import current_actor
from sim.agent import AgentProcess
from sim.clients import People
from sim.database import Store
from sim.host import STATE, Host
from sim.initial_state import HOSTS, initial_state
from sim.invariants import Invariants
from sim.loop import discard_tasks
from sim.restores import Restores
from sim.server import ServerProcess
from sim.swarm import FaultRates, draw
from sim.upgrades import Upgrades
from sim.world import EPOCH_MS, MINUTE, MS, SECOND, Micros, Process, World

# After the faults have ended, everything must have ended within this time.
PATIENCE: Micros = 45 * MINUTE
OPEN = "select 1 from jobs where lifecycle in ('ready','onhold','syncing','assigned','started')"


class Scenario:
    def __init__(self, seed: int, faults: FaultRates | None, verbose: bool) -> None:
        world = self.world = World(seed, verbose=verbose)
        random = world.random
        self.setting = initial_state()
        self.swarm = faults or draw(random)
        self.truth = Invariants(world, self.setting)
        jobs, logs = self.setting.open()
        self.jobs, self.logs = Store(world, jobs), Store(world, logs)
        self.is_quiet = False
        self.slots = random.choice((1, 2, 4, 16))
        # Loops of the server run less often in some stories: nothing may depend on their speed.
        self.slow = random.choice((2, 4, 8))
        self.servers: list[ServerProcess] = []
        self.server_count = 2 if random.random() < self.swarm.second_server else 1
        names = HOSTS[: random.choice((1, 2))]
        self.hosts = [self._host(name) for name in names]
        self.truth.hosts = self.hosts
        self.people = People(self, self.setting)
        self.restores = Restores(self)
        self.upgrades = Upgrades(self)

    def _host(self, name: str) -> Host:
        rate = 1 + self.swarm.drift * self.world.random.uniform(-1, 1)
        host = Host(self.world, self.truth, self.setting.hosts[name], name, rate)
        host.crash_chance = self.swarm.keeper_crash
        host.agent_crash_chance = self.swarm.agent_crash
        host.lag = self.swarm.lag
        host.find_server = self.a_server
        return host

    def run(self) -> None:
        world = self.world
        for number in range(self.server_count):
            self._start_server(number)
        for host in self.hosts:
            self._start_agent(host)
        ends_at = world.between(60 * SECOND, 240 * SECOND)
        self._plan(ends_at)
        if self.swarm.clock_jumps:
            self.truth.is_clock_followed = not self.swarm.stops_servers
            self._observe()
        world.run_until(ends_at)
        self._heal()
        world.run_until(world.now + PATIENCE, self._is_settled)
        # Late requests of a slow client or a woken server must end too.
        world.run_until(world.now + 30 * SECOND)
        world.run_until(world.now + PATIENCE, self._is_settled)
        self._judge()

    def _observe(self) -> None:
        if self.jobs.writer is None:
            self.truth.observe(self.jobs.connection.execute("select id, lifecycle from jobs"))
        self.world.after(SECOND, self._observe)

    # Participants

    def a_server(self) -> ServerProcess | None:
        alive = [server for server in self.servers if server.is_alive]
        return self.world.random.choice(alive) if alive else None

    def _start_server(self, number: int) -> None:
        self.upgrades.start_server()
        server = ServerProcess(self.world, number, self.jobs, self.logs, self.slow)
        server.db.dies_after_commit = 0 if self.is_quiet else self.swarm.dies_after_commit
        server.deaf = self.swarm.deaf
        self.servers = [item for item in self.servers if item.is_alive] + [server]
        for item in self.servers:
            item.peers = [other for other in self.servers if other is not item]

    def _start_agent(self, host: Host) -> None:
        if host.agent is None or not host.agent.is_alive:
            AgentProcess(host, self.slots)

    # Faults

    def _plan(self, ends_at: Micros) -> None:
        swarm_ = self.swarm
        self._often(3 + self.world.between(0, 7), ends_at, self.people.create)
        for count, mishap in (
            (swarm_.cuts, self._cut),
            (swarm_.partitions, lambda: self._cut_off(60 * SECOND)),
            (swarm_.long_partitions, lambda: self._cut_off(180 * MINUTE)),
            (swarm_.server_kills, self._kill_server),
            (swarm_.server_pauses, self._pause_server),
            (swarm_.agent_kills, lambda: self._a_host().kill_agent()),
            (swarm_.agent_pauses, lambda: self._pause(self._a_host().agent)),
            (swarm_.keeper_kills, lambda: self._a_host().kill_keeper()),
            (swarm_.keeper_pauses, lambda: self._pause(self._a_host().keeper)),
            (swarm_.reboots, lambda: self._a_host().reboot()),
            (swarm_.journal_losses, lambda: self._lose_journal(self._a_host())),
            (swarm_.journal_damages, lambda: self._damage_journal(self._a_host())),
            (swarm_.full_disks, self._fill_disk),
            (swarm_.rollbacks, lambda: self._snapshot(self._a_host())),
            (swarm_.restores, self.restores.back_up),
            (swarm_.clock_jumps, self._jump),
            (swarm_.cancels, self.people.cancel),
            (swarm_.long_scripts, self.people.create_to_cancel),
            (swarm_.resolves, self.people.resolve),
            (swarm_.restarts, self.people.restart),
        ):
            self._often(count, ends_at, mishap)
        # Not in the table: stories without upgrades do not change, with the same seeds.
        if swarm_.upgrades:
            self._often(swarm_.upgrades, ends_at, self.upgrades.upgrade)
        self._revive()

    def _often(self, count: float, ends_at: Micros, mishap: Callable[[], object]) -> None:
        number = int(count) + (self.world.random.random() < count % 1)
        for _ in range(number):
            self.world.push(self.world.between(0, ends_at), None, (mishap, ()))

    def _revive(self) -> None:
        """What supervisors do: check from time to time whether everything is running."""
        for number in range(self.server_count):
            up = [server for server in self.servers if server.number == number and server.is_alive]
            if not up and (self.is_quiet or self.world.chance(0.3)):
                self._start_server(number)
        for host in self.hosts:
            if self.is_quiet or self.world.chance(0.3):
                self._start_agent(host)
        self.world.after(2 * SECOND, self._revive)

    def _a_host(self) -> Host:
        return self.world.random.choice(self.hosts)

    def _cut(self) -> None:
        open_ones = [c for host in self.hosts for c in host.connections if not c.is_cut]
        if open_ones:
            self.world.random.choice(open_ones[-3:]).cut()

    def _cut_off(self, longest: Micros) -> None:
        host = self._a_host()
        host.cut_off()
        self.world.after(self.world.long_tail(MS, longest), host.reconnect)

    def _kill_server(self) -> None:
        server = self.a_server()
        if server is not None:
            server.kill()

    def _pause_server(self) -> None:
        self._pause(self.a_server())

    def _pause(self, process: Process | None) -> None:
        if process is not None and process.is_alive and not process.is_paused:
            self.world.note("pause", process.name)
            process.pause()
            self.world.after(self.world.long_tail(MS, 150 * SECOND), process.resume)

    def _lose_journal(self, host: Host) -> None:
        if self.restores.needs_journals:
            return
        host.kill_agent()
        host.kill_keeper()
        host.befell("journal_lost")
        host.disk.lose(STATE.journal)

    def _damage_journal(self, host: Host) -> None:
        if self.restores.needs_journals:
            return
        host.kill_keeper()
        host.befell("journal_lost")
        host.disk.damage(STATE.journal)

    def _snapshot(self, host: Host) -> None:
        """Taken now, restored a little later, while scripts run that it does not contain."""
        host.take_snapshot()
        self.world.after(self.world.between(SECOND, 40 * SECOND), self._roll_back, host)

    def _roll_back(self, host: Host) -> None:
        """Only where the server can know: a script that was never reported, on a machine whose next
        hello looks like that of a reboot, leaves no trace anywhere."""
        snapshot = host.snapshot
        if snapshot is None or self.is_quiet or self.restores.forbid_rollback:
            return
        rows = self.jobs.connection.execute(
            "select a.fence from attempts a join hosts h on h.id = a.host_id"
            " where h.id = ? and a.state = 'live' and a.started_at is null and h.greeting <= ?",
            (host.id, snapshot.greetings),
        )
        unheard = {fence for (fence,) in rows}
        if any(run.fence in unheard for run in host.started if run.started_at >= snapshot.at):
            return
        host.roll_back()

    def _fill_disk(self) -> None:
        host = self._a_host()
        host.befell("disk_full")
        disk = host.disk
        disk.is_full = True
        self.world.after(self.world.long_tail(MS, 60 * SECOND), setattr, disk, "is_full", False)

    def _jump(self) -> None:
        self.truth.clock_jumped = True
        self.world.off_ms += self.world.between(-900_000, 900_000)
        self.world.note("clock_jump", self.world.off_ms)

    # End

    def _heal(self) -> None:
        self.world.note("healed")
        self.truth.healed_at = self.world.now
        self.is_quiet = True
        self.swarm.loss = 0
        for server in self.servers:
            server.db.dies_after_commit = 0
            if server.is_paused:
                server.resume()
        for host in self.hosts:
            host.crash_chance = host.agent_crash_chance = host.lag = 0.0
            host.disk.is_full = False
            for process in (host.agent, host.keeper):
                if process is not None and process.is_paused:
                    process.resume()
            if host.is_cut_off:
                host.reconnect()
        self._revive()
        self.restores.decide()

    def _is_settled(self) -> bool:
        if self.jobs.writer is not None or self.jobs.connection.execute(OPEN).fetchone():
            return False
        for host in self.hosts:
            if host.keeper is None or not host.keeper.is_alive or host.keeper.open_entries:
                return False
            if any(not run.behaviour.cannot_die for run in host.alive()):
                return False
        return all(request.job_ids for request in self.truth.requests if request.key)

    def _judge(self) -> None:
        now = EPOCH_MS + self.world.now // MS
        tx = SqliteTx(self.jobs.connection, now)
        self.truth.judge(tx, SqliteTx(self.logs.connection, now))
        self.upgrades.judge(tx)
        rows = tx.rows(
            "select id, lifecycle, state, version, fence, ran, reason from jobs order by id"
        )
        rows += tx.rows("select fence, job_id, state from attempts order by fence")
        self.world.digest = crc32(repr(rows).encode(), self.world.digest)


class ErrorLog(logging.Handler):
    """An error that the product caught and logged is a broken promise here."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self._world.accuse(f"logged: {record.getMessage()} {record.exc_info[1]!r}")


def run_seed(seed: int, faults: FaultRates | None = None, *, verbose: bool = False) -> World:
    """Run one seed to its end; the world that is left, with its violations and its digest.

    `faults` stand in for those that the seed would draw.
    """
    current_actor.begin()
    story = Scenario(seed, None if faults is None else replace(faults), verbose)
    log = logging.getLogger("belvedere")
    complaints = ErrorLog(story.world)
    log.addHandler(complaints)
    try:
        story.run()
    finally:
        log.removeHandler(complaints)
        discard_tasks(story.world)
    return story.world
