"""Ending processes of a script: SIGTERM, SIGKILL after the grace period, until none is left."""

from __future__ import annotations

import signal

from belvedere.agent.processes.groups import ProcessGroups
from belvedere.agent.processes.script import MS, RunningScript

# Grace period of processes that are left when a script ends by itself.
LEFTOVER_GRACE = 300 * MS
# A killed process that is still there after this time cannot be ended (it hangs in the kernel).
KILL_TIMEOUT = 3_000 * MS
FIRST_PAUSE = 1 * MS
MAX_PAUSE = 50 * MS
# How often new processes of a script that forks while it is being stopped are stopped too.
MAX_STOP_ROUNDS = 200


def begin(script: RunningScript, groups: ProcessGroups, why: str, grace: int, now: int) -> None:
    script.why = why
    script.kill_at = now + grace
    _check_soon(script, now)
    members = groups.members(script)
    groups.ask_to_end(script, members)
    # A stopped process handles SIGTERM only after SIGCONT.
    groups.send(members, signal.SIGCONT)


def check(script: RunningScript, groups: ProcessGroups, now: int) -> bool:
    """Check what is left of the script. True if two walks in a row find nothing, or if the
    remaining processes cannot be killed."""
    members = groups.members(script) or groups.members(script)
    if not members and script.status is not None:
        return True
    if now >= script.kill_at + KILL_TIMEOUT:
        script.survivors = sorted(members)
        return True
    if now >= script.kill_at:
        if not script.killed:
            script.killed = True
            _check_soon(script, now)
        _kill(script, groups, members)
    script.look_at = now + script.pause
    script.pause = min(script.pause * 2, MAX_PAUSE)
    if not script.killed:
        script.look_at = min(script.look_at, script.kill_at)
    return False


def _check_soon(script: RunningScript, now: int) -> None:
    script.pause = FIRST_PAUSE
    script.look_at = now + FIRST_PAUSE


def _kill(script: RunningScript, groups: ProcessGroups, members: dict[int, int]) -> None:
    """Stop all processes before killing any: a stopped process cannot fork."""
    stopped: dict[int, int] = {}
    for _ in range(MAX_STOP_ROUNDS):
        fresh = {pid: parent for pid, parent in members.items() if pid not in stopped}
        if not fresh:
            break
        groups.send(fresh, signal.SIGSTOP)
        stopped.update(fresh)
        members = groups.members(script)
    groups.send(stopped | members, signal.SIGKILL)
