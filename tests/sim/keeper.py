"""The keeper of a simulated host: the real one's rules and journal, over simulated scripts."""

import signal
from typing import TYPE_CHECKING, Any

from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import SendMessage
from belvedere.agent.journal.state import JournalState
from belvedere.agent.keeper import program as keeper_module
from belvedere.agent.keeper.program import Keeper
from belvedere.agent.output.capture import OutputCapture
from belvedere.agent.processes.script import MS, NEVER, SHOW_AFTER, STARTED_AFTER, report
from sim.scripts import SimProcess

if TYPE_CHECKING:
    from sim.host import Host

GRACE_FOR_KILLED = 3_000 * MS


class SimScript:
    """A script as the keeper sees it; the fields are those that agent/processes/script.py reads."""

    def __init__(self, order: dict[str, Any], running: SimProcess, inline: int, now: int) -> None:
        self.fence: int = order["fence"]
        self.running = running
        self.output = OutputCapture(inline)
        self.started_at = now
        self.ended_at = 0
        self.deadline = now + order["timeout_ms"] * MS
        self.grace: int = order["grace_ms"] * MS
        self.kill_at = NEVER
        self.why = ""
        self.killed = False
        self.status: int | None = None
        self.survivors: list[int] = []
        self.announced = False
        self.reported_bytes = 0
        self.show_at = now + SHOW_AFTER

    @property
    def due(self) -> int:
        end = self.kill_at if self.why else self.deadline
        if self.killed:
            end += GRACE_FOR_KILLED
        start = NEVER if self.announced else self.started_at + STARTED_AFTER
        return min(end, start, self.show_at)


class SimScripts:
    """Replaces agent/keeper/script_runner.py."""

    def __init__(self, host: "Host", journal_state: JournalState) -> None:
        self._host = host
        self._journal_state = journal_state
        self._kept: dict[int, SimScript] = {}
        self.inline = 0

    @property
    def due(self) -> int:
        return min((item.due for item in self._kept.values()), default=NEVER)

    def is_idle(self) -> bool:
        return not self._kept

    def prepare(self, order: dict[str, Any]) -> None:
        """Preparing has no effect outside the keeper."""

    def discard_prepared(self) -> None:
        """Nothing was prepared."""

    def start(self, order: dict[str, Any]) -> Any:
        behaviour = self._host.behaviour(order)
        if behaviour.cannot_start:
            report = rules.failure("no_interpreter", "There is no such program.")
            return rules.ended(self._journal_state, order["fence"], report)
        running = self._host.spawn(order, behaviour)
        self._kept[running.fence] = SimScript(order, running, self.inline, self._host.clock_ns())
        keeper_module.reach("keeper.spawned")  # type: ignore[attr-defined]
        return []

    def end(self, fence: int, why: str) -> Any:
        steps = self.reap()
        sim_script = self._kept.get(fence)
        if sim_script is not None and not sim_script.why:
            self._begin_end(sim_script, why)
        return steps

    def _begin_end(self, sim_script: SimScript, why: str) -> None:
        sim_script.why = why
        sim_script.kill_at = self._host.clock_ns() + sim_script.grace
        sim_script.running.send(signal.SIGTERM, why)

    def reap(self) -> Any:
        steps: Any = []
        for item in [value for value in self._kept.values() if not value.running.is_alive]:
            keeper_module.reach("keeper.script_ended")  # type: ignore[attr-defined]
            steps += self._finish(item)
        return steps

    def _finish(self, sim_script: SimScript) -> Any:
        if not sim_script.running.is_alive:
            sim_script.status = sim_script.running.status
            sim_script.ended_at = self._host.clock_ns()
        self._read(sim_script)
        del self._kept[sim_script.fence]
        return rules.ended(self._journal_state, sim_script.fence, report(sim_script))  # type: ignore[arg-type]

    def _read(self, sim_script: SimScript) -> None:
        data = sim_script.running.read()
        if data:
            sim_script.output.feed(data, "", sim_script.fence)

    def tick(self, now: int) -> Any:
        steps = self.reap()
        for item in list(self._kept.values()):
            steps += self._attend(item, now)
        return steps

    def _attend(self, sim_script: SimScript, now: int) -> Any:
        steps: Any = []
        if not sim_script.announced and now >= sim_script.started_at + STARTED_AFTER:
            sim_script.announced = True
            age = (now - sim_script.started_at) // MS
            steps.append(SendMessage({"say": "started", "fence": sim_script.fence, "age_ms": age}))
        if now >= sim_script.show_at:
            sim_script.show_at = NEVER
            steps += self._show(sim_script)
        if not sim_script.why and now >= sim_script.deadline:
            self._begin_end(sim_script, "timeout")
        if sim_script.why and now >= sim_script.kill_at + GRACE_FOR_KILLED:
            sim_script.survivors = [sim_script.running.pid]
            return steps + self._finish(sim_script)
        if sim_script.why and not sim_script.killed and now >= sim_script.kill_at:
            sim_script.killed = True
            sim_script.running.send(signal.SIGKILL, sim_script.why)
            return steps + self.reap()
        return steps

    def _show(self, sim_script: SimScript) -> Any:
        self._read(sim_script)
        if sim_script.output.total == sim_script.reported_bytes:
            return []
        if sim_script.output.spool is None:
            sim_script.output.spill("", sim_script.fence)
        sim_script.reported_bytes = sim_script.output.total
        return [
            SendMessage(
                {"say": "output", "fence": sim_script.fence, "total": sim_script.reported_bytes}
            )
        ]

    def output_totals(self) -> dict[int, int]:
        return {
            item.fence: item.reported_bytes for item in self._kept.values() if item.reported_bytes
        }

    def ages(self) -> dict[int, int]:
        now = self._host.clock_ns()
        announced = [item for item in self._kept.values() if item.announced]
        return {item.fence: (now - item.started_at) // MS for item in announced}

    def held_output(self) -> dict[int, Any]:
        """The spool of a simulated host can always be written."""
        return {}

    def trim_output(self, fence: int, offset: int) -> None:
        """The spool of a simulated host is large enough to keep everything."""

    def tidy(self) -> None:
        """A simulated script leaves nothing to clean up."""

    def clear(self, fences: list[int]) -> None:
        for fence in fences:
            self._host.disk.spooled.pop(fence, None)


def assemble(host: "Host", journal: Any, journal_state: JournalState, socket: Any) -> Keeper:
    """The real keeper without its sockets, signals and processes."""
    keeper = Keeper.__new__(Keeper)
    # The real one is random. Not from the journal, which may be rolled back.
    keeper._id = f"keeper-{host.world.now}"
    keeper._journal = journal
    keeper._journal_state = journal_state
    keeper._socket = socket
    keeper._scripts = SimScripts(host, journal_state)  # type: ignore[assignment]
    keeper._groups = host  # type: ignore[assignment]  # asked only for its `containment`
    keeper._todo = []
    keeper._write_at = NEVER
    keeper._exit_at = NEVER
    keeper._retiring = False
    return keeper
