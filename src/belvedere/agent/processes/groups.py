"""All processes below the keeper, and the script that each belongs to."""

from __future__ import annotations

import os
import signal
import sys

from belvedere.agent.processes import discovery
from belvedere.agent.processes.discovery import ProcessMarks
from belvedere.agent.processes.script import RunningScript
from belvedere.agent.processes.spawn import Spawner


class ProcessGroups:
    """Scripts by fence until all of their processes ended, and by main process while it runs."""

    containment = ""

    def __init__(self, cleaner_pids: set[int], spawner: Spawner) -> None:
        self.scripts: dict[int, RunningScript] = {}
        self._mains: dict[int, RunningScript] = {}
        # Whether no child at all was left after the last reaping.
        self._is_alone = False
        self._cleaner_pids = cleaner_pids
        self._spawner = spawner

    def add(self, script: RunningScript) -> None:
        self._mains[script.pid] = script
        self.scripts[script.fence] = script

    def reap(self) -> tuple[list[RunningScript], bool]:
        """Reap every ended child; returns the scripts whose main process ended, with their status
        set, and whether other children ended."""
        over: list[RunningScript] = []
        others = False
        ended, self._is_alone = _ended_children()
        for pid, status in ended:
            script = self._mains.pop(pid, None)
            if script is not None:
                script.status = status
                over.append(script)
            else:
                others = True
                self._cleaner_pids.discard(pid)
                self._release(pid)
        return over, others

    def _release(self, pid: int) -> None:
        """A child that was not the main process of a script has ended."""

    def is_clear(self) -> bool:
        """Whether the keeper has no other children than main processes of scripts."""
        return False

    def members(self, script: RunningScript) -> dict[int, int]:
        """Every process of this script with its parent (zero for children of the keeper)."""
        raise NotImplementedError

    def send(self, members: dict[int, int], signal_number: signal.Signals) -> None:
        raise NotImplementedError

    def ask_to_end(self, script: RunningScript, members: dict[int, int]) -> None:
        self.send(members, signal.SIGTERM)

    def keep_background(self, script: RunningScript) -> None:
        """Background processes of the script may stay."""


class TreeTracking(ProcessGroups):
    """On Linux: all descendants, also those that left the process group."""

    containment = "subreaper"

    def __init__(self, cleaner_pids: set[int], spawner: Spawner) -> None:
        super().__init__(cleaner_pids, spawner)
        discovery.become_subreaper()
        self._children = discovery.OwnChildren()
        # Orphans with a known fence: marks can be removed later, so the first match counts.
        self._adopted: dict[int, int] = {}
        # Fences whose background children were allowed to stay.
        self._background: dict[int, ProcessMarks] = {}

    def _release(self, pid: int) -> None:
        fence = self._adopted.pop(pid, 0)
        if fence in self._background and fence not in self._adopted.values():
            del self._background[fence]

    def is_clear(self) -> bool:
        # Without a child there is no descendant, and only the keeper can start one.
        if self._is_alone:
            return True
        return len(self._children.pids()) == len(self._mains) + len(self._cleaner_pids)

    def members(self, script: RunningScript) -> dict[int, int]:
        roots = [pid for pid in self._orphans() if self._owner(pid, script) == script.fence]
        if script.status is None:
            roots.append(script.pid)
        return discovery.tree(roots)

    def _orphans(self) -> list[int]:
        pids = self._children.pids()
        return [pid for pid in pids if pid not in self._mains and pid not in self._cleaner_pids]

    def _owner(self, pid: int, caller: RunningScript) -> int:
        if pid not in self._adopted:
            fence = self._find_owner(pid, caller)
            if fence == 0:
                return 0
            self._adopted[pid] = fence
        return self._adopted[pid]

    def _find_owner(self, pid: int, caller: RunningScript) -> int:
        others = [script for script in self.scripts.values() if script is not caller]
        for script in [caller, *others]:
            if discovery.has_mark(pid, self._marks_of(script)):
                return script.fence
        for fence, marks in self._background.items():
            if discovery.has_mark(pid, marks):
                return fence
        # It removed every mark. If only one script is left, the process belongs to it.
        return 0 if others or self._background else caller.fence

    def _marks_of(self, script: RunningScript) -> ProcessMarks:
        cookie = self._spawner.cookie(script.fence)
        return ProcessMarks(script.pid, script.mark, cookie, script.place.path, script.pipe)

    def send(self, members: dict[int, int], signal_number: signal.Signals) -> None:
        # Children first: when its parent has ended, a process has another parent than recorded.
        for pid, parent in reversed(members.items()):
            discovery.send(pid, parent, signal_number)

    def ask_to_end(self, script: RunningScript, members: dict[int, int]) -> None:
        """Signal the process group at once: a shell whose child ends first would run its next
        lines as if nothing had happened."""
        if script.status is None:
            outside = {
                pid: parent
                for pid, parent in members.items()
                if discovery.group_of(pid) != script.pid
            }
            # Before their parents end and they get other parents than recorded.
            self.send(outside, signal.SIGTERM)
            if discovery.send_to_group(script.pid, signal.SIGTERM):
                return
        self.send(members, signal.SIGTERM)

    def keep_background(self, script: RunningScript) -> None:
        if self.members(script):
            self._background[script.fence] = self._marks_of(script)


class GroupTracking(ProcessGroups):
    """On other systems: only the process group. A child that leaves its group is not ended."""

    containment = "group"

    def members(self, script: RunningScript) -> dict[int, int]:
        # The group represents its processes.
        try:
            os.killpg(script.pid, 0)
        except OSError:
            return {}
        return {script.pid: 0}

    def send(self, members: dict[int, int], signal_number: signal.Signals) -> None:
        for group in members:
            try:
                os.killpg(group, signal_number)
            except OSError:
                continue


def track_processes(cleaner_pids: set[int], spawner: Spawner) -> ProcessGroups:
    return (TreeTracking if sys.platform == "linux" else GroupTracking)(cleaner_pids, spawner)


def _ended_children() -> tuple[list[tuple[int, int]], bool]:
    """Ended children with their status, and whether no other child is left."""
    ended: list[tuple[int, int]] = []
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return ended, False
            ended.append((pid, status))
    except ChildProcessError:
        return ended, True
