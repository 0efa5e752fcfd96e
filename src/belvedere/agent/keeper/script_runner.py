"""The life of scripts in the keeper: start, output, deadline, end. Rules decide, this does."""

from __future__ import annotations

import os
import select

from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import Tell
from belvedere.agent.journal.state import Ledger
from belvedere.agent.keeper.control_socket import complain
from belvedere.agent.output import spool
from belvedere.agent.output.capture import LastLine, Output
from belvedere.agent.output.memory_buffer import Room
from belvedere.agent.processes import termination
from belvedere.agent.processes.groups import Crowd
from belvedere.agent.processes.pipes import Pipes
from belvedere.agent.processes.report import report
from belvedere.agent.processes.script import (
    MS,
    NEVER,
    SHOW_AFTER,
    STARTED_AFTER,
    Script,
    is_check,
    now_ns,
)
from belvedere.agent.processes.spawn import CannotStart, Spawner
from belvedere.agent.state_folder import DISK_ERRORS, Folder
from belvedere.agent.workdir import accounts
from belvedere.agent.workdir.accounts import Account
from belvedere.agent.workdir.artifacts import harvest
from belvedere.agent.workdir.staging import stage
from belvedere.agent.workdir.workdirs import Workplace, Workplaces
from belvedere.base.failpoints import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from belvedere.agent.journal.effects import Steps
    from belvedere.agent.journal.state import Message


class Scripts:
    def __init__(
        self,
        ledger: Ledger,
        folder: Folder,
        workplaces: Workplaces,
        crowd: Crowd,
        spawner: Spawner,
        poll: select.poll,
    ) -> None:
        self._ledger = ledger
        self._spool = folder.spool
        self._files = folder.files
        self._workplaces = workplaces
        self._crowd = crowd
        self._spawner = spawner
        self._pipes = Pipes(poll, folder.spool)
        self._account = accounts.own()
        self._spooled = set(spool.found(folder.spool))
        # Of scripts that are over: spools with output in memory that the server lacks.
        self._held: dict[int, spool.Spool] = {}
        self._room = Room()
        self._harvested = {int(name) for name in os.listdir(folder.files) if name.isdigit()}
        # Those that are over, and whose folder, pipe and mark can serve others.
        self._left: list[Script] = []
        self.inline = 0
        self.due = NEVER

    def is_idle(self) -> bool:
        return not self._crowd.scripts and not self._pipes.sinks

    def start(self, order: Message) -> Steps:
        fence: int = order["fence"]
        place: Workplace | None = None
        mark = self._spawner.mark()
        try:
            account = self._account_for(order["os_user"])
            place = self._place_for(account)
            script = stage(order, account, place)
            # Before anything runs: what cannot be hidden must not be said.
            output = self._output_for(order)
            started_at = now_ns()
            pid, pipe = self._spawner.start(order, account, place, script, mark)
        except (CannotStart, OSError, ValueError, LookupError) as fault:
            if place is not None:
                self._workplaces.leave(place)
            self._spawner.release(mark)
            reason = fault.reason if isinstance(fault, CannotStart) else _reason(fault)
            return self._over(fence, rules.failure(reason, str(fault)))
        started = Script(order, pid, pipe, place, output, mark, started_at)
        # Nobody waits for the start of a check.
        started.announced = is_check(fence)
        self._crowd.add(started)
        self.due = min(self.due, started.due)
        reach("keeper.spawned")
        return []

    def _output_for(self, order: Message) -> Output:
        if is_check(order["fence"]):
            return LastLine(0)
        return Output(self.inline, order.get("masks"), self._room)

    def _over(self, fence: int, report: Message) -> Steps:
        """A check is told and forgotten; everything else goes through the ledger."""
        if is_check(fence):
            return [Tell({"say": "checked", "number": -fence, "report": report})]
        return rules.ended(self._ledger, fence, report)

    def _account_for(self, os_user: str) -> Account:
        if not os_user:
            return self._account
        account = accounts.other(os_user)
        if account is None:
            raise CannotStart("no_such_user", f"There is no user {os_user!r} on this host.")
        if account.switch and not accounts.may_switch():
            raise CannotStart(
                "no_right_to_run_as",
                f"The agent may not run scripts as {os_user!r}; only an agent of root may.",
            )
        return account

    def _place_for(self, account: Account) -> Workplace:
        if account.switch:
            return self._workplaces.take_private()
        return self._workplaces.take()

    def end(self, fence: int, why: str) -> Steps:
        """Cancel or stop; one that ended by itself just before has ended by itself."""
        steps = self.reap()
        script = self._crowd.scripts.get(fence)
        if script is not None and not script.why:
            self._begin_end(script, why, script.grace, now_ns())
        return steps

    def end_checks(self) -> Steps:
        """Nobody waits for them any more."""
        steps: Steps = []
        for fence in [fence for fence in self._crowd.scripts if is_check(fence)]:
            steps += self.end(fence, "stopped")
        return steps

    def _begin_end(self, script: Script, why: str, grace: int, now: int) -> None:
        termination.begin(script, self._crowd, why, grace, now)
        self._plan(script)

    def _plan(self, script: Script) -> None:
        script.plan()
        self.due = min(self.due, script.due)

    def reap(self) -> Steps:
        """Collect what ended; a script is over when nothing of it is left."""
        steps: Steps = []
        now = now_ns()
        over, others = self._crowd.reap()
        for script in over:
            reach("keeper.script_ended")
            script.ended_at = now
            if script.fence not in self._crowd.scripts:
                continue
            steps += self._look(script, now) if script.why else self._end_naturally(script, now)
        if others:
            self._look_soon(now)
        return steps

    def _look_soon(self, now: int) -> None:
        """Processes ended that were nobody's main one: scripts that are being ended may be over."""
        for script in self._crowd.scripts.values():
            if script.why:
                script.look_at = min(script.look_at, now + MS)
                self._plan(script)

    def _end_naturally(self, script: Script, now: int) -> Steps:
        if self._crowd.is_clear():
            return self._finish(script)
        if script.daemonize:
            self._crowd.spare(script)
            return self._finish(script)
        if not self._crowd.members(script):
            return self._finish(script)
        self._begin_end(script, "leftovers", termination.LEFTOVER_GRACE, now)
        return []

    def _look(self, script: Script, now: int) -> Steps:
        if termination.look(script, self._crowd, now):
            return self._finish(script)
        self._plan(script)
        return []

    def tick(self, now: int) -> Steps:
        """Look after every script whose time has come."""
        steps = self.reap()
        for script in list(self._crowd.scripts.values()):
            if script.due <= now:
                steps += self._attend(script, now)
        self.due = min((script.due for script in self._crowd.scripts.values()), default=NEVER)
        return steps

    def _attend(self, script: Script, now: int) -> Steps:
        steps: Steps = []
        if not script.polled:
            script.polled = True
            self._pipes.watch(script)
        if not script.announced and now >= script.started_at + STARTED_AFTER:
            script.announced = True
            steps.append(Tell({"say": "started", "fence": script.fence, "age_ms": age(script)}))
        if now >= script.show_at:
            steps.append(self._show(script))
        if not script.why and now >= script.deadline:
            self._begin_end(script, "timeout", script.grace, now)
        if script.why and now >= script.look_at:
            return steps + self._look(script, now)
        script.plan()
        return steps

    def read(self, fd: int) -> None:
        script = self._pipes.read(fd)
        if script is None or is_check(script.fence):
            return
        if script.show_at == NEVER and script.output.total > script.shown:
            script.show_at = now_ns() + SHOW_AFTER
            self._plan(script)

    def _show(self, script: Script) -> Tell:
        """Put its output where the agent finds it, and say how far it goes."""
        if script.output.spool is None:
            script.output.spill(self._spool, script.fence)
        script.shown = script.output.total
        script.show_at = NEVER
        return self._tell_output(script)

    def _tell_output(self, script: Script) -> Tell:
        """With what could not be written to disk."""
        message: Message = {"say": "output", "fence": script.fence, "total": script.shown}
        if script.output.spool is not None and (news := script.output.spool.held.news()):
            message["held"] = news
        return Tell(message)

    def _finish(self, script: Script) -> Steps:
        self._pipes.drain(script)
        fence = script.fence
        del self._crowd.scripts[fence]
        if not self._crowd.scripts:
            # The look that this one was still due would find nobody.
            self.due = NEVER
        found = report(script)
        if not is_check(fence):
            found.update(self._harvest(script))
        steps: Steps = []
        if script.output.spool is not None:
            self._spooled.add(fence)
            if script.output.spool.held.pieces:
                self._held[fence] = script.output.spool
                script.shown = script.output.total
                steps.append(self._tell_output(script))
        if script.survivors or (script.daemonize and self._crowd.members(script)):
            # Processes stay that need them.
            self._pipes.sink(script)
            self._workplaces.keep(script.place)
        else:
            self._left.append(script)
        return steps + self._over(fence, found)

    def _harvest(self, script: Script) -> Message:
        """What it left for the server lies apart from now on, until the server has it."""
        found: Message = {}
        try:
            found = harvest(script.place, f"{self._files}/{script.fence}", script.output.masker)
        except OSError as fault:
            # It removed the folder, or the disk is in trouble: then there are none.
            complain(f"Files of fence {script.fence} cannot be had: {fault}")
        if not script.place.files:
            self._harvested.add(script.fence)
        return found

    def tidy(self) -> None:
        """Give back what scripts needed that are over. Nobody waits for this, but many may wait
        for their ends, so it comes after these were told."""
        while self._left:
            script = self._left.pop()
            self._pipes.close(script)
            self._workplaces.leave(script.place)
            self._spawner.release(script.mark)
            self._spawner.prepare()

    def ages(self) -> dict[int, int]:
        """How long each announced script runs, in milliseconds."""
        return {s.fence: age(s) for s in self._crowd.scripts.values() if s.announced}

    def shown(self) -> dict[int, int]:
        """Up to which byte the output of each fence lies on disk."""
        live = {s.fence: s.shown for s in self._crowd.scripts.values()}
        return {fence: total for fence, total in live.items() if total}

    def held(self) -> dict[int, list[list[Any]]]:
        """Output of each fence that is only in memory, for an agent that has just connected."""
        spools = [(s.fence, s.output.spool) for s in self._crowd.scripts.values()]
        spools += self._held.items()
        return {fence: one.held.all() for fence, one in spools if one and one.held.pieces}

    def kept(self, fence: int, offset: int) -> None:
        script = self._crowd.scripts.get(fence)
        if script is not None and script.output.spool is not None:
            script.output.spool.trim(offset)
        elif script is None:
            if fence in self._held:
                self._held[fence].held.drop_below(offset)
            spool.trim(self._spool, fence, offset)

    def clear(self, fences: list[int]) -> None:
        for fence in self._spooled.intersection(fences):
            self._spooled.discard(fence)
            spool.clear(self._spool, fence)
            if fence in self._held:
                self._held.pop(fence).held.clear()
        for fence in self._harvested.intersection(fences):
            self._harvested.discard(fence)
            self._workplaces.remove(f"{self._files}/{fence}")


def _reason(fault: Exception) -> str:
    """An order that a full disk kept from starting can be given out again."""
    is_disk = isinstance(fault, OSError) and fault.errno in DISK_ERRORS
    return "disk_full" if is_disk else "cannot_prepare"


def age(script: Script) -> int:
    return (now_ns() - script.started_at) // MS
