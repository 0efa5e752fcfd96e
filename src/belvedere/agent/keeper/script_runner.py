"""Running scripts in the keeper: start, output, deadline, end. The rules decide what to do."""

from __future__ import annotations

import os
import select

from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import SendMessage
from belvedere.agent.journal.state import JournalState
from belvedere.agent.output import spool
from belvedere.agent.output.capture import LastLineCapture, OutputCapture
from belvedere.agent.output.memory_buffer import MemoryBudget
from belvedere.agent.processes import termination
from belvedere.agent.processes.groups import ProcessGroups
from belvedere.agent.processes.pipes import Pipes
from belvedere.agent.processes.script import (
    MS,
    NEVER,
    SHOW_AFTER,
    STARTED_AFTER,
    RunningScript,
    is_check,
    now_ns,
    report,
)
from belvedere.agent.processes.spawn import CannotStart, PreparedScript, Spawner
from belvedere.agent.state_folder import DISK_ERRORS, StateFolder, write_log
from belvedere.agent.workdir import accounts
from belvedere.agent.workdir.accounts import ScriptAccount
from belvedere.agent.workdir.artifacts import collect_artifacts
from belvedere.agent.workdir.staging import stage
from belvedere.agent.workdir.workdirs import Workdir, Workdirs
from belvedere.base.failpoints import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from belvedere.agent.journal.effects import Effects
    from belvedere.agent.journal.state import Message

START_FAULTS = (CannotStart, OSError, ValueError, LookupError)


class ScriptRunner:
    def __init__(
        self,
        state: JournalState,
        folder: StateFolder,
        workdirs: Workdirs,
        groups: ProcessGroups,
        spawner: Spawner,
        poll: select.poll,
    ) -> None:
        self._journal_state = state
        self._spool = folder.spool
        self._files = folder.files
        self._workdirs = workdirs
        self._groups = groups
        self._spawner = spawner
        # The next script to start, if it is prepared already.
        self._prepared: PreparedScript | None = None
        self._pipes = Pipes(poll, folder.spool)
        self._account = accounts.own_account()
        self._spooled = set(spool.list_spools(folder.spool))
        # Spools of ended scripts with output in memory that the server does not have.
        self._buffered_spools: dict[int, spool.Spool] = {}
        self._memory_budget = MemoryBudget()
        self._with_artifacts = {int(name) for name in os.listdir(folder.files) if name.isdigit()}
        # Ended scripts whose folder, pipe and mark can be reused.
        self._finished: list[RunningScript] = []
        self.inline = 0
        self.due = NEVER

    def is_idle(self) -> bool:
        return not self._groups.scripts and not self._pipes.sinks

    def prepare(self, order: Message) -> None:
        """Do the part of `start` that is allowed before the order is durable. If this fails,
        `start` tries again and reports the error."""
        self.discard_prepared()
        try:
            self._prepared = self._prepare(order)
        except START_FAULTS:
            return

    def discard_prepared(self) -> None:
        """Release the prepared script; it will not be started."""
        if self._prepared is not None:
            self._release(self._prepared)
            self._prepared = None

    def start(self, order: Message) -> Effects:
        script: PreparedScript | None = None
        try:
            script = self._take_prepared(order) or self._prepare(order)
            started_at = now_ns()
            pid, pipe = self._spawner.start(script)
        except START_FAULTS as fault:
            if script is not None:
                self._release(script)
            reason = fault.reason if isinstance(fault, CannotStart) else _reason(fault)
            return self._report_end(order["fence"], rules.failure(reason, str(fault)))
        started = RunningScript(script, pid, pipe, started_at)
        # The start of a check is not announced.
        started.announced = is_check(started.fence)
        self._groups.add(started)
        self.due = min(self.due, started.due)
        reach("keeper.spawned")
        return []

    def _take_prepared(self, order: Message) -> PreparedScript | None:
        script = self._prepared
        if script is None or script.order is not order:
            return None
        self._prepared = None
        return script

    def _prepare(self, order: Message) -> PreparedScript:
        # First: output that cannot be masked must not be sent.
        output = self._output_for(order)
        account = self._account_for(order["os_user"])
        place = self._place_for(account)
        try:
            script = stage(order, account, place)
            return self._spawner.prepare(order, account, place, output, script)
        except START_FAULTS:
            self._workdirs.release(place)
            raise

    def _release(self, script: PreparedScript | RunningScript) -> None:
        """Folder and mark can be used again."""
        self._workdirs.release(script.place)
        self._spawner.release(script.mark)

    def _output_for(self, order: Message) -> OutputCapture:
        if is_check(order["fence"]):
            return LastLineCapture(0)
        return OutputCapture(self.inline, order.get("masks"), self._memory_budget)

    def _report_end(self, fence: int, report: Message) -> Effects:
        """The end of a check is only sent; everything else goes through the journal."""
        if is_check(fence):
            return [SendMessage({"say": "checked", "number": -fence, "report": report})]
        return rules.ended(self._journal_state, fence, report)

    def _account_for(self, os_user: str) -> ScriptAccount:
        if not os_user:
            return self._account
        account = accounts.find_account(os_user)
        if account is None:
            raise CannotStart("no_such_user", f"The user {os_user!r} does not exist on this host.")
        if account.switch and not accounts.may_switch():
            raise CannotStart(
                "no_right_to_run_as",
                f"The agent cannot run scripts as {os_user!r}; it has to run as root for that.",
            )
        return account

    def _place_for(self, account: ScriptAccount) -> Workdir:
        if account.switch:
            return self._workdirs.take_private()
        return self._workdirs.take()

    def end(self, fence: int, why: str) -> Effects:
        """Cancel or stop; a script that has just ended by itself keeps its own end."""
        effects = self.reap()
        script = self._groups.scripts.get(fence)
        if script is not None and not script.why:
            self._begin_end(script, why, script.grace, now_ns())
        return effects

    def end_checks(self) -> Effects:
        """End all checks; the agent that wanted their results is gone."""
        effects: Effects = []
        for fence in [fence for fence in self._groups.scripts if is_check(fence)]:
            effects += self.end(fence, "stopped")
        return effects

    def _begin_end(self, script: RunningScript, why: str, grace: int, now: int) -> None:
        termination.begin(script, self._groups, why, grace, now)
        self._plan(script)

    def _plan(self, script: RunningScript) -> None:
        script.plan()
        self.due = min(self.due, script.due)

    def reap(self) -> Effects:
        """Reap ended processes; a script has ended when none of its processes is left."""
        effects: Effects = []
        now = now_ns()
        over, others = self._groups.reap()
        for script in over:
            reach("keeper.script_ended")
            script.ended_at = now
            if script.fence not in self._groups.scripts:
                continue
            effects += (
                self._check_end(script, now) if script.why else self._end_naturally(script, now)
            )
        if others:
            self._check_soon(now)
        return effects

    def _check_soon(self, now: int) -> None:
        """Other processes than main ones ended: scripts that are being ended may be done."""
        for script in self._groups.scripts.values():
            if script.why:
                script.look_at = min(script.look_at, now + MS)
                self._plan(script)

    def _end_naturally(self, script: RunningScript, now: int) -> Effects:
        if self._groups.is_clear():
            return self._finish(script)
        if script.daemonize:
            self._groups.keep_background(script)
            return self._finish(script)
        if not self._groups.members(script):
            return self._finish(script)
        self._begin_end(script, "leftovers", termination.LEFTOVER_GRACE, now)
        return []

    def _check_end(self, script: RunningScript, now: int) -> Effects:
        if termination.check(script, self._groups, now):
            return self._finish(script)
        self._plan(script)
        return []

    def tick(self, now: int) -> Effects:
        """Update every script that is due."""
        effects = self.reap()
        for script in list(self._groups.scripts.values()):
            if script.due <= now:
                effects += self._update(script, now)
        self.due = min((script.due for script in self._groups.scripts.values()), default=NEVER)
        return effects

    def _update(self, script: RunningScript, now: int) -> Effects:
        effects: Effects = []
        if not script.polled:
            script.polled = True
            self._pipes.watch(script)
        if not script.announced and now >= script.started_at + STARTED_AFTER:
            script.announced = True
            effects.append(
                SendMessage({"say": "started", "fence": script.fence, "age_ms": age(script)})
            )
        if now >= script.show_at:
            effects.append(self._show(script))
        if not script.why and now >= script.deadline:
            self._begin_end(script, "timeout", script.grace, now)
        if script.why and now >= script.look_at:
            return effects + self._check_end(script, now)
        script.plan()
        return effects

    def read(self, fd: int) -> None:
        script = self._pipes.read(fd)
        if script is None or is_check(script.fence):
            return
        if script.show_at == NEVER and script.output.total > script.reported_total:
            script.show_at = now_ns() + SHOW_AFTER
            self._plan(script)

    def _show(self, script: RunningScript) -> SendMessage:
        """Write the output to the spool for the agent, and report how far it goes."""
        if script.output.spool is None:
            script.output.spill(self._spool, script.fence)
        script.reported_total = script.output.total
        script.show_at = NEVER
        return self._output_message(script)

    def _output_message(self, script: RunningScript) -> SendMessage:
        """The message about new output, with the bytes that could not be written to disk."""
        message: Message = {"say": "output", "fence": script.fence, "total": script.reported_total}
        if script.output.spool is not None and (pieces := script.output.spool.memory.new_pieces()):
            message["held"] = pieces
        return SendMessage(message)

    def _finish(self, script: RunningScript) -> Effects:
        self._pipes.drain(script)
        fence = script.fence
        del self._groups.scripts[fence]
        if not self._groups.scripts:
            # A check that is still planned for this script would find nothing.
            self.due = NEVER
        fields = report(script)
        if not is_check(fence):
            fields.update(self._collect_artifacts(script))
        effects: Effects = []
        if script.output.spool is not None:
            self._spooled.add(fence)
            if script.output.spool.memory.pieces:
                self._buffered_spools[fence] = script.output.spool
                script.reported_total = script.output.total
                effects.append(self._output_message(script))
        if script.survivors or (script.daemonize and self._groups.members(script)):
            # Remaining processes still need pipe and folder.
            self._pipes.sink(script)
            self._workdirs.keep(script.place)
        else:
            self._finished.append(script)
        return effects + self._report_end(fence, fields)

    def _collect_artifacts(self, script: RunningScript) -> Message:
        """Move the artifacts to a folder of their own until the server has them."""
        fields: Message = {}
        try:
            fields = collect_artifacts(
                script.place, f"{self._files}/{script.fence}", script.output.masker
            )
        except OSError as fault:
            # The script removed the folder, or the disk is broken: then there are none.
            job_id = self._journal_state.entries[script.fence].job_id
            write_log(f"artifacts cannot be collected job={job_id} error={fault}")
        if not script.place.files:
            self._with_artifacts.add(script.fence)
        return fields

    def tidy(self) -> None:
        """Release resources of ended scripts. Nothing waits for this, but others wait for the ends
        of scripts, so it runs after those were sent."""
        while self._finished:
            script = self._finished.pop()
            self._pipes.close(script)
            self._release(script)
            self._spawner.create_pipe()

    def ages(self) -> dict[int, int]:
        """How long each announced script runs, in milliseconds."""
        return {s.fence: age(s) for s in self._groups.scripts.values() if s.announced}

    def output_totals(self) -> dict[int, int]:
        """Up to which byte the output of each fence is on disk."""
        live = {s.fence: s.reported_total for s in self._groups.scripts.values()}
        return {fence: total for fence, total in live.items() if total}

    def held_output(self) -> dict[int, list[list[Any]]]:
        """Output of each fence that is only in memory, for an agent that has just connected."""
        spools = [(s.fence, s.output.spool) for s in self._groups.scripts.values()]
        spools += self._buffered_spools.items()
        return {
            fence: script_spool.memory.all()
            for fence, script_spool in spools
            if script_spool and script_spool.memory.pieces
        }

    def trim_output(self, fence: int, offset: int) -> None:
        script = self._groups.scripts.get(fence)
        if script is not None and script.output.spool is not None:
            script.output.spool.trim(offset)
        elif script is None:
            if fence in self._buffered_spools:
                self._buffered_spools[fence].memory.drop_below(offset)
            spool.trim(self._spool, fence, offset)

    def clear(self, fences: list[int]) -> None:
        for fence in self._spooled.intersection(fences):
            self._spooled.discard(fence)
            spool.clear(self._spool, fence)
            if fence in self._buffered_spools:
                self._buffered_spools.pop(fence).memory.clear()
        for fence in self._with_artifacts.intersection(fences):
            self._with_artifacts.discard(fence)
            self._workdirs.remove(f"{self._files}/{fence}")


def _reason(fault: Exception) -> str:
    """An order that could not start because of a full disk can be requeued."""
    is_disk = isinstance(fault, OSError) and fault.errno in DISK_ERRORS
    return "disk_full" if is_disk else "cannot_prepare"


def age(script: RunningScript) -> int:
    return (now_ns() - script.started_at) // MS
