"""What the keeper decides, as plain functions: a ledger and a message give the steps to take.

No clock, socket, disk or randomness lives here, so that a simulator runs exactly this code.
"""

from __future__ import annotations

from belvedere.agent.journal.effects import Clear, End, Renew, Spawn, Tell, Write
from belvedere.agent.journal.state import Entry, Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from belvedere.agent.journal.effects import Steps
    from belvedere.agent.journal.state import Message, Report


def greet(ledger: Ledger, owner: str, new_id: str) -> Steps:
    """An agent is about to say Hello. Until `welcome`, orders are refused: the server will take
    what this ledger does not hold for never accepted, so nothing may slip in behind it. Its number
    is durable first: after any crash the next Hello has a higher one."""
    ledger.session = 0
    ledger.greetings += 1
    if ledger.owner == owner:
        return [Write(["greeted", ledger.greetings], sync=True)]
    had_owner, ledger.owner = ledger.owner, owner
    if not had_owner:
        return [Renew()]
    # Enrolled as another host: what the former server ordered is nobody's business any more.
    ledger.journal_id = new_id
    ledger.seen.clear()
    ledger.floor = 0
    steps: Steps = []
    for fence in list(ledger.entries):
        steps += stop(ledger, fence)
    return [Renew(), *steps]


def renew(ledger: Ledger, new_id: str) -> Steps:
    """This journal was rolled back: it must not prove that what it lacks was never accepted."""
    ledger.journal_id = new_id
    return [Renew()]


def welcome(ledger: Ledger, session: int) -> None:
    ledger.session = session


def _is_current(ledger: Ledger, message: Message) -> bool:
    return ledger.session != 0 and message["session"] == ledger.session


def order(ledger: Ledger, message: Message) -> Steps:
    """Accept an order of the current session whose fence was never seen; drop any other."""
    fence: int = message["fence"]
    if not _is_current(ledger, message) or ledger.knows(fence):
        return [] if fence in ledger.entries else [_gone(fence)]
    job_id: str = message["job_id"]
    older = _attempts(ledger, job_id)
    entry = Entry(fence, job_id, ledger.boot_id)
    ledger.entries[fence] = entry
    ledger.remember(fence)
    accepted = Write(["accepted", fence, job_id], sync=True)
    if not older:
        return [accepted, *_begin(ledger, message, _stuck(ledger, job_id))]
    # A newer attempt supersedes the older ones, but the two must never run side by side.
    entry.waiting = message
    steps: Steps = [accepted]
    for one in older:
        steps += stop(ledger, one.fence)
    return steps


def refuse(ledger: Ledger, message: Message) -> Steps:
    """The agent cannot run this order (its script cannot be had, or it was cancelled before)."""
    fence: int = message["fence"]
    if not _is_current(ledger, message) or ledger.knows(fence):
        return []
    ledger.entries[fence] = Entry(fence, message["job_id"], ledger.boot_id)
    ledger.remember(fence)
    accepted = Write(["accepted", fence, message["job_id"]], sync=False)
    return [accepted, *ended(ledger, fence, message["report"])]


def unwritable(ledger: Ledger, fence: int, message: str) -> Steps:
    """The acceptance could not be made durable: it is certain that nothing ran."""
    entry = ledger.entries[fence]
    entry.report = failure("disk_full", message)
    # It is in no journal: a hello must not say so, which would look like a rollback later.
    ledger.seen.discard(fence)
    told = Tell({"say": "ended", "fence": fence, "report": entry.report})
    return [told, *_follow(ledger, entry.job_id)]


def cancel(ledger: Ledger, fence: int) -> Steps:
    entry = ledger.entries.get(fence)
    if entry is None or entry.report is not None or entry.wish:
        return []
    if entry.waiting is not None:
        entry.waiting = None
        return ended(ledger, fence, {"ending": "canceled", "reason": "not_started"})
    entry.wish = "canceled"
    return [End(fence, "canceled")]


def stop(ledger: Ledger, fence: int) -> Steps:
    """End it and forget it without a report."""
    entry = ledger.entries.get(fence)
    if entry is None or entry.wish == "stopped":
        return []
    was_waiting, entry.waiting = entry.waiting, None
    entry.wish = "stopped"
    if entry.report is not None or was_waiting is not None:
        return [*_forget(ledger, [fence]), _gone(fence)]
    return [End(fence, "stopped")]


def ended(ledger: Ledger, fence: int, report: Report) -> Steps:
    """Every process of the fence is gone, or is named in the report as one that will not go."""
    entry = ledger.entries[fence]
    entry.report = report
    steps: Steps
    if entry.wish == "stopped":
        steps = [*_forget(ledger, [fence]), _gone(fence)]
    else:
        steps = [
            Write(["ended", fence, report], sync=False),
            Tell({"say": "ended", "fence": fence, "report": report}),
        ]
    return steps + _follow(ledger, entry.job_id, report.get("survivors", []))


def _attempts(ledger: Ledger, job_id: str) -> list[Entry]:
    entries = ledger.entries.values()
    return [entry for entry in entries if entry.job_id == job_id and entry.report is None]


def _follow(ledger: Ledger, job_id: str, survivors: Sequence[int] = ()) -> Steps:
    """Start the attempt that waited for the older ones of its job, once all of them are gone."""
    live = _attempts(ledger, job_id)
    if len(live) != 1 or live[0].waiting is None:
        return []
    order_, live[0].waiting = live[0].waiting, None
    return _begin(ledger, order_, [*_stuck(ledger, job_id), *survivors])


def _stuck(ledger: Ledger, job_id: str) -> list[int]:
    """What ended attempts of the job left behind, since not even KILL ends it."""
    reports = [entry.report or {} for entry in ledger.entries.values() if entry.job_id == job_id]
    return sorted({pid for report in reports for pid in report.get("survivors", [])})


def _begin(ledger: Ledger, message: Message, stuck: list[int]) -> Steps:
    if not stuck:
        return [Spawn(message)]
    text = f"Processes of an earlier attempt still live and cannot be ended: {stuck}."
    # Named again, so that nobody tries once more beside them.
    report = {**failure("cannot_prepare", text), "survivors": stuck}
    return ended(ledger, message["fence"], report)


def ack(ledger: Ledger, fences: list[int]) -> Steps:
    """The server holds these ends; one that is still live here was not what it acknowledged."""
    over = [f for f in fences if f in ledger.entries and ledger.entries[f].report is not None]
    return _forget(ledger, over) if over else []


def _forget(ledger: Ledger, fences: list[int]) -> Steps:
    for fence in fences:
        del ledger.entries[fence]
    return [Write(["acked", fences], sync=False), Clear(fences)]


def _gone(fence: int) -> Tell:
    """The agent may still be sending its output or its end."""
    return Tell({"say": "gone", "fence": fence})


def orphaned(ledger: Ledger, boot_id: str) -> list[int]:
    """After a crash of the keeper: live fences whose processes may still be there."""
    return [entry.fence for entry in ledger.live() if _is_of_boot(entry, boot_id)]


def _is_of_boot(entry: Entry, boot_id: str) -> bool:
    # A damaged journal may not know its boot any more: then nothing says that there was another.
    return entry.boot_id in ("", boot_id)


def recover(ledger: Ledger, boot_id: str, found: dict[int, Report]) -> None:
    """After a crash of the keeper no live entry's end can be known any more; `found` holds what
    the disk and the process table still told about some of them."""
    for entry in ledger.live():
        reason = "keeper_lost" if _is_of_boot(entry, boot_id) else "host_rebooted"
        entry.report = {"ending": "unknown", "reason": reason, **found.get(entry.fence, {})}
    ledger.boot_id = boot_id


def failure(reason: str, message: str) -> Report:
    """The report of an order that certainly did not run."""
    return {"ending": "error", "reason": reason, "message": message}
