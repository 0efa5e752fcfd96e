"""Decisions of the keeper as pure functions: a state and a message give effects to perform.

There is no clock, socket, disk or randomness here, so that a simulator runs exactly this code.
"""

from __future__ import annotations

from belvedere.agent.journal.effects import (
    ClearOutput,
    EndScript,
    RewriteJournal,
    SendMessage,
    SpawnScript,
    WriteRecord,
)
from belvedere.agent.journal.state import JournalEntry, JournalState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from belvedere.agent.journal.effects import Effects
    from belvedere.agent.journal.state import Message, Report


def prepare_hello(state: JournalState, owner: str, new_id: str) -> Effects:
    """An agent is about to send Hello. Until `welcome`, orders are refused: the server treats what
    this state does not have as never accepted, so nothing may be added afterwards. The number of
    the greeting is durable first: after any crash the next Hello has a higher one."""
    state.session = 0
    state.greetings += 1
    if state.owner == owner:
        return [WriteRecord(["greeted", state.greetings], sync=True)]
    had_owner, state.owner = state.owner, owner
    if not had_owner:
        return [RewriteJournal()]
    # Enrolled as another host: orders of the former server no longer count.
    state.journal_id = new_id
    state.accepted_fences.clear()
    state.accepted_up_to = 0
    effects: Effects = []
    for fence in list(state.entries):
        effects += stop(state, fence)
    return [RewriteJournal(), *effects]


def renew(state: JournalState, new_id: str) -> Effects:
    """This journal was rolled back: it must not prove that missing fences were never accepted."""
    state.journal_id = new_id
    return [RewriteJournal()]


def welcome(state: JournalState, session: int) -> None:
    state.session = session


def _is_current(state: JournalState, message: Message) -> bool:
    return state.session != 0 and message["session"] == state.session


def order(state: JournalState, message: Message) -> Effects:
    """Accept an order of the current session with a new fence; drop any other."""
    fence: int = message["fence"]
    if not _is_current(state, message) or state.knows(fence):
        return [] if fence in state.entries else [_gone_message(fence)]
    job_id: str = message["job_id"]
    older = _attempts(state, job_id)
    entry = JournalEntry(fence, job_id, state.boot_id)
    state.entries[fence] = entry
    state.remember(fence)
    accepted = WriteRecord(["accepted", fence, job_id], sync=True)
    if not older:
        return [accepted, *_begin(state, message, _stuck(state, job_id))]
    # A newer attempt replaces the older ones, but they must never run at the same time.
    entry.waiting = message
    effects: Effects = [accepted]
    for attempt in older:
        effects += stop(state, attempt.fence)
    return effects


def refuse(state: JournalState, message: Message) -> Effects:
    """The agent cannot run this order (its script is unavailable, or it was cancelled before)."""
    fence: int = message["fence"]
    if not _is_current(state, message) or state.knows(fence):
        return []
    state.entries[fence] = JournalEntry(fence, message["job_id"], state.boot_id)
    state.remember(fence)
    accepted = WriteRecord(["accepted", fence, message["job_id"]], sync=False)
    return [accepted, *ended(state, fence, message["report"])]


def unwritable(state: JournalState, fence: int, message: str) -> Effects:
    """The acceptance could not be made durable: nothing ran for certain."""
    entry = state.entries[fence]
    entry.report = failure("disk_full", message)
    # It is in no journal: a Hello must not include it, or that looks like a rollback later.
    state.accepted_fences.discard(fence)
    message_effect = SendMessage({"say": "ended", "fence": fence, "report": entry.report})
    return [message_effect, *_follow(state, entry.job_id)]


def cancel(state: JournalState, fence: int) -> Effects:
    entry = state.entries.get(fence)
    if entry is None or entry.report is not None or entry.requested_end:
        return []
    if entry.waiting is not None:
        entry.waiting = None
        return ended(state, fence, {"ending": "canceled", "reason": "not_started"})
    entry.requested_end = "canceled"
    return [EndScript(fence, "canceled")]


def stop(state: JournalState, fence: int) -> Effects:
    """End the script and drop its entry without a report."""
    entry = state.entries.get(fence)
    if entry is None or entry.requested_end == "stopped":
        return []
    was_waiting, entry.waiting = entry.waiting, None
    entry.requested_end = "stopped"
    if entry.report is not None or was_waiting is not None:
        return [*_forget(state, [fence]), _gone_message(fence)]
    return [EndScript(fence, "stopped")]


def ended(state: JournalState, fence: int, report: Report) -> Effects:
    """Every process of the fence has ended, or is a survivor in the report."""
    entry = state.entries[fence]
    entry.report = report
    effects: Effects
    if entry.requested_end == "stopped":
        effects = [*_forget(state, [fence]), _gone_message(fence)]
    else:
        effects = [
            WriteRecord(["ended", fence, report], sync=False),
            SendMessage({"say": "ended", "fence": fence, "report": report}),
        ]
    return effects + _follow(state, entry.job_id, report.get("survivors", []))


def _attempts(state: JournalState, job_id: str) -> list[JournalEntry]:
    entries = state.entries.values()
    return [entry for entry in entries if entry.job_id == job_id and entry.report is None]


def _follow(state: JournalState, job_id: str, survivors: Sequence[int] = ()) -> Effects:
    """Start the attempt that waited for older ones of its job, once all of them ended."""
    live = _attempts(state, job_id)
    if len(live) != 1 or live[0].waiting is None:
        return []
    order_, live[0].waiting = live[0].waiting, None
    return _begin(state, order_, [*_stuck(state, job_id), *survivors])


def _stuck(state: JournalState, job_id: str) -> list[int]:
    """Processes of ended attempts of the job that not even SIGKILL ended."""
    reports = [entry.report or {} for entry in state.entries.values() if entry.job_id == job_id]
    return sorted({pid for report in reports for pid in report.get("survivors", [])})


def _begin(state: JournalState, message: Message, stuck: list[int]) -> Effects:
    if not stuck:
        return [SpawnScript(message)]
    text = f"Processes of an earlier attempt are still running and cannot be killed: {stuck}."
    # Reported again, so that no further attempt starts beside them.
    report = {**failure("cannot_prepare", text), "survivors": stuck}
    return ended(state, message["fence"], report)


def ack(state: JournalState, fences: list[int]) -> Effects:
    """The server has these ends; it cannot mean a fence that is still live here."""
    ended_fences = [f for f in fences if f in state.entries and state.entries[f].report is not None]
    return _forget(state, ended_fences) if ended_fences else []


def _forget(state: JournalState, fences: list[int]) -> Effects:
    for fence in fences:
        del state.entries[fence]
    return [WriteRecord(["acked", fences], sync=False), ClearOutput(fences)]


def _gone_message(fence: int) -> SendMessage:
    """Tells the agent to stop sending output or the end of this fence."""
    return SendMessage({"say": "gone", "fence": fence})


def orphaned(state: JournalState, boot_id: str) -> list[int]:
    """After a crash of the keeper: live fences whose processes may still run."""
    return [entry.fence for entry in state.live() if _is_of_boot(entry, boot_id)]


def _is_of_boot(entry: JournalEntry, boot_id: str) -> bool:
    # A damaged journal may have lost its boot id; then a reboot cannot be assumed.
    return entry.boot_id in ("", boot_id)


def recover(state: JournalState, boot_id: str, reports: dict[int, Report]) -> None:
    """After a crash of the keeper, the end of every live entry is unknown; `reports` has what the
    disk and the process table still show for some of them."""
    for entry in state.live():
        reason = "keeper_lost" if _is_of_boot(entry, boot_id) else "host_rebooted"
        entry.report = {"ending": "unknown", "reason": reason, **reports.get(entry.fence, {})}
    state.boot_id = boot_id


def failure(reason: str, message: str) -> Report:
    """The report of an order that did not run for certain."""
    return {"ending": "error", "reason": reason, "message": message}
