"""Ending a script's processes: TERM to all at once, KILL after the grace, until none is left."""

from __future__ import annotations

import signal

from belvedere.agent.processes.groups import Crowd
from belvedere.agent.processes.script import MS, Script

# What a script leaves behind when it ends by itself gets this long.
LEFTOVER_GRACE = 300 * MS
# A killed process that is still there after this long will not go (it hangs in the kernel).
PATIENCE = 3_000 * MS
FIRST_PAUSE = 1 * MS
LONGEST_PAUSE = 50 * MS
# A script that forks while it is being stopped is followed this many times before the KILL.
ROUNDS = 200


def begin(script: Script, crowd: Crowd, why: str, grace: int, now: int) -> None:
    script.why = why
    script.kill_at = now + grace
    _look_soon(script, now)
    members = crowd.members(script)
    crowd.ask_to_end(script, members)
    # A stopped process acts on TERM only once it goes on.
    crowd.send(members, signal.SIGCONT)


def look(script: Script, crowd: Crowd, now: int) -> bool:
    """One look at what is left of it; true when two walks in a row find nothing, or when what
    they find would not even die of KILL."""
    members = crowd.members(script) or crowd.members(script)
    if not members and script.status is not None:
        return True
    if now >= script.kill_at + PATIENCE:
        script.survivors = sorted(members)
        return True
    if now >= script.kill_at:
        if not script.killed:
            script.killed = True
            _look_soon(script, now)
        _kill(script, crowd, members)
    script.look_at = now + script.pause
    script.pause = min(script.pause * 2, LONGEST_PAUSE)
    if not script.killed:
        script.look_at = min(script.look_at, script.kill_at)
    return False


def _look_soon(script: Script, now: int) -> None:
    script.pause = FIRST_PAUSE
    script.look_at = now + FIRST_PAUSE


def _kill(script: Script, crowd: Crowd, members: dict[int, int]) -> None:
    """Stop everything before killing anything: a stopped process cannot fork away from us."""
    stopped: dict[int, int] = {}
    for _ in range(ROUNDS):
        fresh = {pid: parent for pid, parent in members.items() if pid not in stopped}
        if not fresh:
            break
        crowd.send(fresh, signal.SIGSTOP)
        stopped.update(fresh)
        members = crowd.members(script)
    crowd.send(stopped | members, signal.SIGKILL)
