"""Every decision of the keeper, as function calls."""

from typing import Any

from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import (
    ClearOutput,
    Effect,
    EndScript,
    RewriteJournal,
    SendMessage,
    SendState,
    SpawnScript,
    WriteRecord,
)
from belvedere.agent.journal.state import JournalState, records, replay

EXIT = {"ending": "exit", "code": 0}


def journal_state() -> JournalState:
    journal_state = JournalState("journal", "boot", "host")
    rules.welcome(journal_state, 7)
    return journal_state


def order(fence: int, job_id: str = "", session: int = 7) -> dict[str, Any]:
    return {"session": session, "fence": fence, "job_id": job_id or f"job{fence}"}


def plain(steps: list[Effect]) -> list[tuple[Any, ...]]:
    """Steps as tuples, which can be compared."""
    return [_plain(step) for step in steps]


def _plain(step: Effect) -> tuple[Any, ...]:
    match step:
        case WriteRecord():
            return ("write", *step.record, "sync" if step.sync else "")
        case SpawnScript():
            return ("spawn", step.order["fence"])
        case EndScript():
            return ("end", step.fence, step.why)
        case SendMessage():
            return ("tell", step.message["say"], step.message["fence"])
        case SendState():
            return ("tell", "state")
        case ClearOutput():
            return ("clear", *step.fences)
        case RewriteJournal():
            return ("renew",)


def running_state(*fences: int) -> JournalState:
    state = journal_state()
    for fence in fences:
        rules.order(state, order(fence))
    return state


FORGET_1 = [("write", "acked", [1], ""), ("clear", 1)]
END_1 = [("write", "ended", 1, EXIT, ""), ("tell", "ended", 1)]


def test_an_order_is_journaled_started_and_acknowledged() -> None:
    state = journal_state()
    accepted = plain(rules.order(state, order(1)))
    assert accepted == [("write", "accepted", 1, "job1", "sync"), ("spawn", 1)]
    assert plain(rules.ended(state, 1, EXIT)) == END_1
    assert plain(rules.ack(state, [1])) == FORGET_1
    assert state.entries == {}
    assert state.knows(1)


def test_a_fence_is_accepted_once() -> None:
    state = running_state(1)
    assert rules.order(state, order(1)) == []
    rules.ended(state, 1, EXIT)
    assert rules.order(state, order(1)) == []
    rules.ack(state, [1])
    assert plain(rules.order(state, order(1))) == [("tell", "gone", 1)]


def test_orders_of_another_session_are_dropped() -> None:
    state = journal_state()
    assert plain(rules.order(state, order(1, session=6))) == [("tell", "gone", 1)]
    assert not state.knows(1)


def test_between_hello_and_welcome_nothing_is_accepted() -> None:
    state = journal_state()
    rules.prepare_hello(state, "host", "new")
    assert plain(rules.order(state, order(1))) == [("tell", "gone", 1)]
    assert plain(rules.order(state, order(1, session=0)))[-1] != ("spawn", 1)
    rules.welcome(state, 8)
    assert plain(rules.order(state, order(1)))[-1] != ("spawn", 1)
    assert plain(rules.order(state, order(1, session=8)))[-1] == ("spawn", 1)


def test_the_first_owner_is_written_down() -> None:
    journal_state = JournalState("journal")
    assert plain(rules.prepare_hello(journal_state, "host", "new")) == [("renew",)]
    assert (journal_state.owner, journal_state.journal_id) == ("host", "journal")


def test_another_owner_begins_another_journal() -> None:
    state = running_state(1, 2)
    rules.ended(state, 2, EXIT)
    steps = plain(rules.prepare_hello(state, "other", "new"))
    assert steps[0] == ("renew",)
    assert ("end", 1, "stopped") in steps
    assert ("clear", 2) in steps
    assert (state.journal_id, state.owner, set(state.entries)) == ("new", "other", {1})
    rules.welcome(state, 1)
    assert plain(rules.order(state, order(2, session=1)))[-1] == ("spawn", 2)


def test_cancel_ends_only_the_running_script() -> None:
    state = running_state(1)
    assert plain(rules.cancel(state, 1)) == [("end", 1, "canceled")]
    assert rules.cancel(state, 1) == []
    assert rules.cancel(state, 2) == []
    rules.ended(state, 1, EXIT)
    assert rules.cancel(state, 1) == []


def test_stop_ends_it_without_a_report() -> None:
    state = running_state(1)
    assert plain(rules.stop(state, 1)) == [("end", 1, "stopped")]
    assert rules.stop(state, 1) == []
    assert rules.cancel(state, 1) == []
    assert plain(rules.ended(state, 1, EXIT)) == [*FORGET_1, ("tell", "gone", 1)]
    assert state.entries == {}


def test_stop_after_cancel_wins() -> None:
    state = running_state(1)
    rules.cancel(state, 1)
    assert plain(rules.stop(state, 1)) == [("end", 1, "stopped")]
    assert plain(rules.ended(state, 1, EXIT)) == [*FORGET_1, ("tell", "gone", 1)]


def test_stop_of_an_ended_one_forgets_it() -> None:
    state = running_state(1)
    rules.ended(state, 1, EXIT)
    assert plain(rules.stop(state, 1)) == [*FORGET_1, ("tell", "gone", 1)]
    assert rules.stop(state, 1) == []


def test_an_acknowledgement_of_a_running_job_is_ignored() -> None:
    state = running_state(1, 2)
    rules.ended(state, 2, EXIT)
    assert plain(rules.ack(state, [1, 2, 3])) == [("write", "acked", [2], ""), ("clear", 2)]
    assert set(state.entries) == {1}
    assert rules.ack(state, [1]) == []


def test_a_newer_attempt_supersedes_the_older_and_waits_for_it() -> None:
    state = journal_state()
    rules.order(state, order(1, "job"))
    steps = plain(rules.order(state, order(2, "job")))
    assert steps == [("write", "accepted", 2, "job", "sync"), ("end", 1, "stopped")]
    over = plain(rules.ended(state, 1, EXIT))
    assert over == [*FORGET_1, ("tell", "gone", 1), ("spawn", 2)]
    assert rules.cancel(state, 2)[0].__class__ is EndScript


def test_a_waiting_job_can_be_canceled_before_its_start() -> None:
    state = journal_state()
    rules.order(state, order(1, "job"))
    rules.order(state, order(2, "job"))
    assert plain(rules.cancel(state, 2))[-1] == ("tell", "ended", 2)
    report = state.entries[2].report
    assert report == {"ending": "canceled", "reason": "not_started"}
    assert ("spawn", 2) not in plain(rules.ended(state, 1, EXIT))


def test_the_newest_of_three_attempts_is_the_one_that_starts() -> None:
    state = journal_state()
    for fence in (1, 2, 3):
        rules.order(state, order(fence, "job"))
    assert set(state.entries) == {1, 3}
    assert plain(rules.ended(state, 1, EXIT))[-1] == ("spawn", 3)


STUCK = {"ending": "timeout", "survivors": [22]}


def test_no_attempt_starts_beside_processes_of_an_older_attempt() -> None:
    """Whether the older one ended before the order came, or is replaced by it."""
    early, late = journal_state(), journal_state()
    rules.order(early, order(1, "job"))
    rules.ended(early, 1, STUCK)
    steps = plain(rules.order(early, order(2, "job")))
    rules.order(late, order(1, "job"))
    rules.order(late, order(2, "job"))
    assert [step[:3] for step in steps] == [
        ("write", "accepted", 2),
        ("write", "ended", 2),
        ("tell", "ended", 2),
    ]
    assert plain(rules.ended(late, 1, STUCK))[-1] == ("tell", "ended", 2)
    for item in (early, late):
        report = item.entries[2].report
        assert report is not None
        assert (report["reason"], report["survivors"]) == ("cannot_prepare", [22])


def test_a_refused_order_is_journalled_with_its_end() -> None:
    state = journal_state()
    report = rules.failure("script_unavailable", "gone")
    steps = plain(rules.refuse(state, {**order(1), "report": report}))
    assert [step[:3] for step in steps] == [
        ("write", "accepted", 1),
        ("write", "ended", 1),
        ("tell", "ended", 1),
    ]
    assert rules.refuse(state, {**order(1), "report": report}) == []
    assert rules.order(state, order(1)) == []
    assert rules.refuse(state, {**order(2, session=1), "report": report}) == []


def test_without_a_journal_the_order_ends_as_an_error() -> None:
    state = running_state(1)
    assert plain(rules.unwritable(state, 1, "disk full")) == [("tell", "ended", 1)]
    assert state.entries[1].report == rules.failure("disk_full", "disk full")
    assert plain(rules.ack(state, [1])) == FORGET_1


def test_a_job_behind_an_unwritable_job_starts() -> None:
    state = journal_state()
    rules.order(state, order(1, "job"))
    rules.order(state, order(2, "job"))
    assert plain(rules.unwritable(state, 1, "disk full"))[-1] == ("spawn", 2)


def test_after_a_crash_on_the_same_boot_leftover_processes_are_searched() -> None:
    state = running_state(1, 2)
    rules.ended(state, 2, EXIT)
    assert rules.orphaned(state, "boot") == [1]
    rules.recover(state, "boot", {1: {"bytes_total": 12}})
    unknown = {"ending": "unknown", "reason": "keeper_lost", "bytes_total": 12}
    assert state.entries[1].report == unknown
    assert state.entries[2].report == EXIT


def test_after_a_reboot_no_leftover_processes_are_searched() -> None:
    state = running_state(1)
    assert rules.orphaned(state, "later boot") == []
    rules.recover(state, "later boot", {})
    assert state.entries[1].report == {"ending": "unknown", "reason": "host_rebooted"}
    assert state.boot_id == "later boot"


def test_a_damaged_journal_without_boot_id_counts_as_this_boot() -> None:
    state = running_state(1)
    state.entries[1].boot_id = ""
    assert rules.orphaned(state, "boot") == [1]
    rules.recover(state, "boot", {})
    assert state.entries[1].report == {"ending": "unknown", "reason": "keeper_lost"}


def test_every_hello_has_a_higher_number_and_it_is_durable_first() -> None:
    state = journal_state()
    assert plain(rules.prepare_hello(state, "host", "new")) == [("write", "greeted", 1, "sync")]
    assert plain(rules.prepare_hello(state, "host", "new")) == [("write", "greeted", 2, "sync")]
    copy = JournalState("journal", owner="host")
    for record in records(state):
        replay(copy, record)
    assert plain(rules.prepare_hello(copy, "host", "new")) == [("write", "greeted", 3, "sync")]
