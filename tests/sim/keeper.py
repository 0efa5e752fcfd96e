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
        self.shown = 0
        self.show_at = now + SHOW_AFTER

    @property
    def due(self) -> int:
        end = self.kill_at if self.why else self.deadline
        if self.killed:
            end += GRACE_FOR_KILLED
        start = NEVER if self.announced else self.started_at + STARTED_AFTER
        return min(end, start, self.show_at)


class SimScripts:
    """In the place of agent/keeper/script_runner.py."""

    def __init__(self, host: "Host", ledger: JournalState) -> None:
        self._host = host
        self._journal_state = ledger
        self._kept: dict[int, SimScript] = {}
        self.inline = 0

    @property
    def due(self) -> int:
        return min((item.due for item in self._kept.values()), default=NEVER)

    def is_idle(self) -> bool:
        return not self._kept

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
        kept = self._kept.get(fence)
        if kept is not None and not kept.why:
            self._begin_end(kept, why)
        return steps

    def _begin_end(self, kept: SimScript, why: str) -> None:
        kept.why = why
        kept.kill_at = self._host.clock_ns() + kept.grace
        kept.running.send(signal.SIGTERM, why)

    def reap(self) -> Any:
        steps: Any = []
        for item in [one for one in self._kept.values() if not one.running.is_alive]:
            keeper_module.reach("keeper.script_ended")  # type: ignore[attr-defined]
            steps += self._finish(item)
        return steps

    def _finish(self, kept: SimScript) -> Any:
        if not kept.running.is_alive:
            kept.status = kept.running.status
            kept.ended_at = self._host.clock_ns()
        self._read(kept)
        del self._kept[kept.fence]
        return rules.ended(self._journal_state, kept.fence, report(kept))  # type: ignore[arg-type]

    def _read(self, kept: SimScript) -> None:
        data = kept.running.read()
        if data:
            kept.output.feed(data, "", kept.fence)

    def tick(self, now: int) -> Any:
        steps = self.reap()
        for item in list(self._kept.values()):
            steps += self._attend(item, now)
        return steps

    def _attend(self, kept: SimScript, now: int) -> Any:
        steps: Any = []
        if not kept.announced and now >= kept.started_at + STARTED_AFTER:
            kept.announced = True
            age = (now - kept.started_at) // MS
            steps.append(SendMessage({"say": "started", "fence": kept.fence, "age_ms": age}))
        if now >= kept.show_at:
            kept.show_at = NEVER
            steps += self._show(kept)
        if not kept.why and now >= kept.deadline:
            self._begin_end(kept, "timeout")
        if kept.why and now >= kept.kill_at + GRACE_FOR_KILLED:
            kept.survivors = [kept.running.pid]
            return steps + self._finish(kept)
        if kept.why and not kept.killed and now >= kept.kill_at:
            kept.killed = True
            kept.running.send(signal.SIGKILL, kept.why)
            return steps + self.reap()
        return steps

    def _show(self, kept: SimScript) -> Any:
        self._read(kept)
        if kept.output.total == kept.shown:
            return []
        if kept.output.spool is None:
            kept.output.spill("", kept.fence)
        kept.shown = kept.output.total
        return [SendMessage({"say": "output", "fence": kept.fence, "total": kept.shown})]

    def output_totals(self) -> dict[int, int]:
        return {item.fence: item.shown for item in self._kept.values() if item.shown}

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
        """A simulated script leaves nothing to tidy up."""

    def clear(self, fences: list[int]) -> None:
        for fence in fences:
            self._host.disk.spooled.pop(fence, None)


def assemble(host: "Host", journal: Any, ledger: JournalState, door: Any) -> Keeper:
    """The real keeper without its sockets, signals and processes."""
    made = Keeper.__new__(Keeper)
    # The real one is random. Not from the journal, which may be rolled back.
    made._id = f"keeper-{host.world.now}"
    made._journal = journal
    made._journal_state = ledger
    made._socket = door
    made._scripts = SimScripts(host, ledger)  # type: ignore[assignment]
    made._groups = host  # type: ignore[assignment]  # asked only for its `containment`
    made._todo = []
    made._write_at = NEVER
    made._exit_at = NEVER
    made._retiring = False
    return made
