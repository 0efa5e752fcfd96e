"""All processes below the keeper, and to which script each belongs."""

from __future__ import annotations

import os
import signal
import sys

from belvedere.agent.processes import discovery
from belvedere.agent.processes.discovery import Signs
from belvedere.agent.processes.script import Script
from belvedere.agent.processes.spawn import Spawner


class Crowd:
    """Scripts by fence until all of their processes are gone, by main process while that lives."""

    containment = ""

    def __init__(self, brooms: set[int], spawner: Spawner) -> None:
        self.scripts: dict[int, Script] = {}
        self._mains: dict[int, Script] = {}
        # Whether the last reaping left no child at all.
        self._is_alone = False
        self._brooms = brooms
        self._spawner = spawner

    def add(self, script: Script) -> None:
        self._mains[script.pid] = script
        self.scripts[script.fence] = script

    def reap(self) -> tuple[list[Script], bool]:
        """Collect every child that ended; the scripts among them get their status. And whether
        there were others."""
        over: list[Script] = []
        others = False
        found, self._is_alone = _ended_children()
        for pid, status in found:
            script = self._mains.pop(pid, None)
            if script is not None:
                script.status = status
                over.append(script)
            else:
                others = True
                self._brooms.discard(pid)
                self._release(pid)
        return over, others

    def _release(self, pid: int) -> None:
        """A child that was no script's main process has ended."""

    def is_clear(self) -> bool:
        """Whether nothing was below the keeper, once it had reaped, but the main processes of
        scripts."""
        return False

    def members(self, script: Script) -> dict[int, int]:
        """Every process of this script, each with its parent (zero for children of ours)."""
        raise NotImplementedError

    def send(self, members: dict[int, int], what: signal.Signals) -> None:
        raise NotImplementedError

    def ask_to_end(self, script: Script, members: dict[int, int]) -> None:
        self.send(members, signal.SIGTERM)

    def spare(self, script: Script) -> None:
        """Its background children may stay."""


class Tree(Crowd):
    """On Linux: every descendant, wherever it hides."""

    containment = "subreaper"

    def __init__(self, brooms: set[int], spawner: Spawner) -> None:
        super().__init__(brooms, spawner)
        discovery.become_subreaper()
        self._children = discovery.OwnChildren()
        # Orphans whose fence is known: signs can be wiped later, so the first finding counts.
        self._adopted: dict[int, int] = {}
        # Fences whose background children were allowed to stay.
        self._spared: dict[int, Signs] = {}

    def _release(self, pid: int) -> None:
        fence = self._adopted.pop(pid, 0)
        if fence in self._spared and fence not in self._adopted.values():
            del self._spared[fence]

    def is_clear(self) -> bool:
        # Who has no child has no other descendant, and only gets one by starting it.
        if self._is_alone:
            return True
        return len(self._children.pids()) == len(self._mains) + len(self._brooms)

    def members(self, script: Script) -> dict[int, int]:
        roots = [pid for pid in self._orphans() if self._owner(pid, script) == script.fence]
        if script.status is None:
            roots.append(script.pid)
        return discovery.tree(roots)

    def _orphans(self) -> list[int]:
        pids = self._children.pids()
        return [pid for pid in pids if pid not in self._mains and pid not in self._brooms]

    def _owner(self, pid: int, asking: Script) -> int:
        if pid not in self._adopted:
            fence = self._recognise(pid, asking)
            if fence == 0:
                return 0
            self._adopted[pid] = fence
        return self._adopted[pid]

    def _recognise(self, pid: int, asking: Script) -> int:
        others = [script for script in self.scripts.values() if script is not asking]
        for script in [asking, *others]:
            if discovery.bears(pid, self._signs(script)):
                return script.fence
        for fence, signs in self._spared.items():
            if discovery.bears(pid, signs):
                return fence
        # It wiped every sign. When only one script is left, whose else could it be?
        return 0 if others or self._spared else asking.fence

    def _signs(self, script: Script) -> Signs:
        cookie = self._spawner.cookie(script.fence)
        return Signs(script.pid, script.mark, cookie, script.place.path, script.pipe)

    def send(self, members: dict[int, int], what: signal.Signals) -> None:
        # Children first: once its parent is gone a process has another parent than we saw.
        for pid, parent in reversed(members.items()):
            discovery.send(pid, parent, what)

    def ask_to_end(self, script: Script, members: dict[int, int]) -> None:
        """Its own group all at once: a shell that saw its child end first would go on, perhaps to
        its last line, as if nobody had asked it anything."""
        if script.status is None:
            outside = {
                pid: parent
                for pid, parent in members.items()
                if discovery.group_of(pid) != script.pid
            }
            # Before their parents go, and they have others than we saw.
            self.send(outside, signal.SIGTERM)
            if discovery.send_to_group(script.pid, signal.SIGTERM):
                return
        self.send(members, signal.SIGTERM)

    def spare(self, script: Script) -> None:
        if self.members(script):
            self._spared[script.fence] = self._signs(script)


class Group(Crowd):
    """Elsewhere: the process group only. A child that leaves its group escapes."""

    containment = "group"

    def members(self, script: Script) -> dict[int, int]:
        # The group stands for its processes.
        try:
            os.killpg(script.pid, 0)
        except OSError:
            return {}
        return {script.pid: 0}

    def send(self, members: dict[int, int], what: signal.Signals) -> None:
        for group in members:
            try:
                os.killpg(group, what)
            except OSError:
                continue


def crowd(brooms: set[int], spawner: Spawner) -> Crowd:
    return (Tree if sys.platform == "linux" else Group)(brooms, spawner)


def _ended_children() -> tuple[list[tuple[int, int]], bool]:
    """Each with its status, and whether no other child is left."""
    found: list[tuple[int, int]] = []
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return found, False
            found.append((pid, status))
    except ChildProcessError:
        return found, True
