"""The complete table of transitions: what each trigger may do, and that everything else is
refused."""

import itertools
from typing import Any

import pytest

from belvedere.base.errors import Conflict
from belvedere.db import Database, Tx
from belvedere.jobs.model import FINAL, TRANSITIONS, JobRow, JobState, Lifecycle, check_transition
from jobs.job_steps import JobSteps

# Written from decisions.md, section 4, apart from the product: trigger, from, to, states.
ALLOWED = """
assign     ready      assigned    in_progress
finish     assigned   finished    normal success failure error
finish     assigned   terminated  timeout canceled
retry      assigned   ready       in_progress
return     assigned   ready       in_progress
return     assigned   canceled    canceled
lose       assigned   terminated  lost
reconcile  lost       finished    normal success failure error timeout canceled
resolve    assigned   finished    normal success failure
resolve    lost       finished    normal success failure
resolve    onhold     finished    normal success failure
hold       ready      onhold      in_progress
release    onhold     ready       in_progress
cancel     ready      canceled    canceled
cancel     onhold     canceled    canceled
cancel     syncing    canceled    canceled
expire     ready      expired     canceled
expire     onhold     expired     canceled
expire     syncing    expired     canceled
approve    onhold     finished    success
reject     onhold     finished    failure
input      onhold     ready       in_progress
input      onhold     finished    success
sync       syncing    ready       in_progress
start      ready      started     in_progress
end        started    finished    normal success failure
stop       started    terminated  canceled
"""


def allowed_moves() -> set[tuple[str, str, str, str]]:
    result = set()
    for line in ALLOWED.split("\n"):
        if line:
            trigger, before, after, *states = line.split()
            result |= {(trigger, before, after, state) for state in states}
    return result


def job(lifecycle: str, state: str) -> JobRow:
    values: dict[str, Any] = dict.fromkeys(JobRow.__struct_fields__)
    return JobRow(**{**values, "lifecycle": lifecycle, "state": state})


def may(trigger: str, row: JobRow, after: Lifecycle, state: JobState) -> bool:
    try:
        check_transition(row, trigger, after, state)
    except Conflict as refusal:
        assert refusal.code == "wrong_lifecycle"
        return False
    return True


def test_only_transitions_of_the_table_are_allowed() -> None:
    """Every trigger, from every state, to every state: exactly the table."""
    table = allowed_moves()
    triggers = sorted({trigger for trigger, *_ in table})
    for trigger, before, had, after, state in itertools.product(
        triggers, Lifecycle, JobState, Lifecycle, JobState
    ):
        place = "lost" if (before, had) == ("terminated", "lost") else str(before)
        expected = place != "terminated" and (trigger, place, str(after), str(state)) in table
        text = f"{trigger}: {before}/{had} to {after}/{state}"
        assert may(trigger, job(before, had), after, state) is expected, text


def test_a_refusal_names_the_state_of_the_job() -> None:
    with pytest.raises(Conflict, match="finished"):
        check_transition(job("finished", "normal"), "cancel", Lifecycle.CANCELED, JobState.CANCELED)


def test_only_a_lost_job_leaves_a_final_lifecycle() -> None:
    leaving = {(move.trigger, move.before) for move in TRANSITIONS if move.before in FINAL}
    assert leaving == {
        ("reconcile", Lifecycle.TERMINATED),
        ("resolve", Lifecycle.TERMINATED),
    }


def test_every_lifecycle_but_the_first_ones_can_be_reached() -> None:
    reached = {move.after for move in TRANSITIONS}
    assert set(Lifecycle) - reached == {Lifecycle.SYNCING}


# The guard in the database.


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_guard_of_the_database_holds_the_same_pairs(db: Database) -> None:
    rows = db.write_blocking(
        lambda tx: tx.rows("select from_lifecycle, to_lifecycle from job_moves")
    )
    assert set(rows) == {(str(move.before), str(move.after)) for move in TRANSITIONS}


def place(tx: Tx, job_id: str, lifecycle: str, state: str) -> None:
    """A job in any state: an insert is not checked by the guard."""
    tx.execute(
        "insert into jobs (id, customer_id, type, name, lifecycle, state, origin, timeout,"
        " expires_at, created_at, updated_at, arguments)"
        " select ?, customer_id, type, name, ?, ?, origin, timeout, expires_at, created_at,"
        " updated_at, arguments from jobs where id = ?",
        f"{lifecycle}-{state}",
        lifecycle,
        state,
        job_id,
    )


def test_the_database_refuses_a_raw_update_to_any_other_pair(steps: JobSteps) -> None:
    template = steps.create().id
    pairs = {(str(move.before), str(move.after)) for move in TRANSITIONS}
    states = {"terminated": ("lost", "timeout")}
    for before in map(str, Lifecycle):
        for had in states.get(before, ("normal",)):
            steps.db.write_blocking(place, template, before, had)
            for after in map(str, Lifecycle):
                frozen = before == "terminated" and had != "lost"
                expected = (before, after) in pairs and not frozen
                assert _moves(steps, f"{before}-{had}", after) is expected, f"{before} to {after}"


def _moves(steps: JobSteps, job_id: str, after: str) -> bool:
    class Undo(Exception):
        pass

    def work(tx: Tx) -> None:
        tx.execute("update jobs set lifecycle = ?, state = 'canceled' where id = ?", after, job_id)
        raise Undo

    try:
        steps.db.write_blocking(work)
    except Undo:
        return True
    except Exception as fault:
        assert "may not make this move" in str(fault)
        return False
    raise AssertionError("an update either works or is refused")


def test_the_database_refuses_to_change_a_verdict_in_place(steps: JobSteps) -> None:
    job_id = steps.assign().id
    steps.end(steps.job(job_id).fence)
    change = "update jobs set state = 'failure' where id = ?"
    with pytest.raises(Exception, match="may not make this move"):
        steps.db.write_blocking(lambda tx: tx.execute(change, job_id))
    assert steps.status(job_id) == "finished/normal"


def test_a_job_has_one_live_attempt_at_most(steps: JobSteps) -> None:
    job_id = steps.assign().id
    again = (
        "insert into attempts (fence, job_id, number, host_id, session, journal_id, state,"
        " claimed_at) select fence + 1, job_id, 2, host_id, session, journal_id, 'live', 0"
        " from attempts where job_id = ?"
    )
    with pytest.raises(Exception, match=r"(?i)unique"):
        steps.db.write_blocking(lambda tx: tx.execute(again, job_id))
    assert len(steps.attempts(job_id)) == 1
