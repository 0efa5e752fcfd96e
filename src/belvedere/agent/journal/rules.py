"""What the keeper decides, as plain functions: a ledger and a message give the steps to take.

No clock, socket, disk or randomness lives here, so that a simulator runs exactly this code.
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


def greet(state: JournalState, owner: str, new_id: str) -> Effects:
    """An agent is about to say Hello. Until `welcome`, orders are refused: the server will take
    what this ledger does not hold for never accepted, so nothing may slip in behind it. Its number
    is durable first: after any crash the next Hello has a higher one."""
    state.session = 0
    state.greetings += 1
    if state.owner == owner:
        return [WriteRecord(["greeted", state.greetings], sync=True)]
    had_owner, state.owner = state.owner, owner
    if not had_owner:
        return [RewriteJournal()]
    # Enrolled as another host: what the former server ordered is nobody's business any more.
    state.journal_id = new_id
    state.seen.clear()
    state.floor = 0
    effects: Effects = []
    for fence in list(state.entries):
        effects += stop(state, fence)
    return [RewriteJournal(), *effects]


def renew(state: JournalState, new_id: str) -> Effects:
    """This journal was rolled back: it must not prove that what it lacks was never accepted."""
    state.journal_id = new_id
    return [RewriteJournal()]


def welcome(state: JournalState, session: int) -> None:
    state.session = session


def _is_current(state: JournalState, message: Message) -> bool:
    return state.session != 0 and message["session"] == state.session


def order(state: JournalState, message: Message) -> Effects:
    """Accept an order of the current session whose fence was never seen; drop any other."""
    fence: int = message["fence"]
    if not _is_current(state, message) or state.knows(fence):
        return [] if fence in state.entries else [_gone(fence)]
    job_id: str = message["job_id"]
    older = _attempts(state, job_id)
    entry = JournalEntry(fence, job_id, state.boot_id)
    state.entries[fence] = entry
    state.remember(fence)
    accepted = WriteRecord(["accepted", fence, job_id], sync=True)
    if not older:
        return [accepted, *_begin(state, message, _stuck(state, job_id))]
    # A newer attempt supersedes the older ones, but the two must never run side by side.
    entry.waiting = message
    effects: Effects = [accepted]
    for attempt in older:
        effects += stop(state, attempt.fence)
    return effects


def refuse(state: JournalState, message: Message) -> Effects:
    """The agent cannot run this order (its script cannot be had, or it was cancelled before)."""
    fence: int = message["fence"]
    if not _is_current(state, message) or state.knows(fence):
        return []
    state.entries[fence] = JournalEntry(fence, message["job_id"], state.boot_id)
    state.remember(fence)
    accepted = WriteRecord(["accepted", fence, message["job_id"]], sync=False)
    return [accepted, *ended(state, fence, message["report"])]


def unwritable(state: JournalState, fence: int, message: str) -> Effects:
    """The acceptance could not be made durable: it is certain that nothing ran."""
    entry = state.entries[fence]
    entry.report = failure("disk_full", message)
    # It is in no journal: a hello must not say so, which would look like a rollback later.
    state.seen.discard(fence)
    message_effect = SendMessage({"say": "ended", "fence": fence, "report": entry.report})
    return [message_effect, *_follow(state, entry.job_id)]


def cancel(state: JournalState, fence: int) -> Effects:
    entry = state.entries.get(fence)
    if entry is None or entry.report is not None or entry.wish:
        return []
    if entry.waiting is not None:
        entry.waiting = None
        return ended(state, fence, {"ending": "canceled", "reason": "not_started"})
    entry.wish = "canceled"
    return [EndScript(fence, "canceled")]


def stop(state: JournalState, fence: int) -> Effects:
    """End it and forget it without a report."""
    entry = state.entries.get(fence)
    if entry is None or entry.wish == "stopped":
        return []
    was_waiting, entry.waiting = entry.waiting, None
    entry.wish = "stopped"
    if entry.report is not None or was_waiting is not None:
        return [*_forget(state, [fence]), _gone(fence)]
    return [EndScript(fence, "stopped")]


def ended(state: JournalState, fence: int, report: Report) -> Effects:
    """Every process of the fence is gone, or is named in the report as one that will not go."""
    entry = state.entries[fence]
    entry.report = report
    effects: Effects
    if entry.wish == "stopped":
        effects = [*_forget(state, [fence]), _gone(fence)]
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
    """Start the attempt that waited for the older ones of its job, once all of them are gone."""
    live = _attempts(state, job_id)
    if len(live) != 1 or live[0].waiting is None:
        return []
    order_, live[0].waiting = live[0].waiting, None
    return _begin(state, order_, [*_stuck(state, job_id), *survivors])


def _stuck(state: JournalState, job_id: str) -> list[int]:
    """What ended attempts of the job left behind, since not even KILL ends it."""
    reports = [entry.report or {} for entry in state.entries.values() if entry.job_id == job_id]
    return sorted({pid for report in reports for pid in report.get("survivors", [])})


def _begin(state: JournalState, message: Message, stuck: list[int]) -> Effects:
    if not stuck:
        return [SpawnScript(message)]
    text = f"Processes of an earlier attempt still live and cannot be ended: {stuck}."
    # Named again, so that nobody tries once more beside them.
    report = {**failure("cannot_prepare", text), "survivors": stuck}
    return ended(state, message["fence"], report)


def ack(state: JournalState, fences: list[int]) -> Effects:
    """The server holds these ends; one that is still live here was not what it acknowledged."""
    ended_fences = [f for f in fences if f in state.entries and state.entries[f].report is not None]
    return _forget(state, ended_fences) if ended_fences else []


def _forget(state: JournalState, fences: list[int]) -> Effects:
    for fence in fences:
        del state.entries[fence]
    return [WriteRecord(["acked", fences], sync=False), ClearOutput(fences)]


def _gone(fence: int) -> SendMessage:
    """The agent may still be sending its output or its end."""
    return SendMessage({"say": "gone", "fence": fence})


def orphaned(state: JournalState, boot_id: str) -> list[int]:
    """After a crash of the keeper: live fences whose processes may still be there."""
    return [entry.fence for entry in state.live() if _is_of_boot(entry, boot_id)]


def _is_of_boot(entry: JournalEntry, boot_id: str) -> bool:
    # A damaged journal may not know its boot any more: then nothing says that there was another.
    return entry.boot_id in ("", boot_id)


def recover(state: JournalState, boot_id: str, reports: dict[int, Report]) -> None:
    """After a crash of the keeper no live entry's end can be known any more; `found` holds what
    the disk and the process table still told about some of them."""
    for entry in state.live():
        reason = "keeper_lost" if _is_of_boot(entry, boot_id) else "host_rebooted"
        entry.report = {"ending": "unknown", "reason": reason, **reports.get(entry.fence, {})}
    state.boot_id = boot_id


def failure(reason: str, message: str) -> Report:
    """The report of an order that certainly did not run."""
    return {"ending": "error", "reason": reason, "message": message}
