"""The keeper's start: read the journal, and clean up after a crash of the former keeper."""

from __future__ import annotations

import os
import signal
import time

from belvedere.agent.journal import rules
from belvedere.agent.journal.journal import Journal
from belvedere.agent.journal.state import JournalState
from belvedere.agent.output import spool
from belvedere.agent.processes import discovery
from belvedere.agent.state_folder import StateFolder, boot_id, cookie, write_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Report

KILL_TIMEOUT_S = 3.0
PAUSE_S = 0.01


def recover(folder: StateFolder, journal: Journal) -> tuple[JournalState, bool]:
    """A state in which every attempt of a former keeper has ended, written to disk; and whether the
    machine was rebooted since. OSError if the journal cannot be written."""
    new_id = os.urandom(12).hex()
    state = journal.load(new_id)
    boot = boot_id()
    rebooted = state.boot_id != boot
    reports: dict[int, Report] = {}
    for fence, end in spool.list_spools(folder.spool).items():
        if fence not in state.entries:
            spool.clear(folder.spool, fence)
        elif end:
            reports[fence] = {"bytes_total": end}
    orphaned = rules.orphaned(state, boot)
    for fence in orphaned:
        write_log(f"keeper of a script is gone job={state.entries[fence].job_id} fence={fence}")
    # Processes that still run here have no owner: a lost journal had accepted them, or they are
    # checks, which are in no journal.
    if (not rebooted or state.journal_id == new_id) and os.path.isdir("/proc/self"):
        _end_leftovers(folder, orphaned, reports)
    rules.recover(state, boot, reports)
    journal.renew(state)
    return state, rebooted


def _end_leftovers(folder: StateFolder, fences: list[int], reports: dict[int, Report]) -> None:
    """Kill processes without a keeper to read their output; those that cannot be killed are
    reported."""
    cookies = {f"{cookie(folder)}.{fence}".encode(): fence for fence in fences}
    checks = f"{cookie(folder)}.-".encode()
    give_up_at = time.monotonic() + KILL_TIMEOUT_S
    clean = 0
    while clean < 2:
        members = discovery.tree(discovery.find_leftovers(set(cookies), checks, folder.work))
        if members and time.monotonic() > give_up_at:
            for pid in members if fences else ():
                fence = cookies.get(discovery.cookie_of(pid), fences[0])
                reports.setdefault(fence, {}).setdefault("survivors", []).append(pid)
            return
        for signal_number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in members:
                discovery.send(pid, 0, signal_number)
        clean = 0 if members else clean + 1
        if members:
            time.sleep(PAUSE_S)
