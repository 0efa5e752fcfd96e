"""Edges that lead back: a node begins again, as often as the bound allows."""

import msgspec
import pytest

from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.db.migrate import migrations, statements
from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.workflows import control
from workflows.test_approval_scope import ASK, OTHER, edit, shown, waiting
from workflows.workflow_steps import Yard

ONE = [{"type": "input", "label": "x"}]


def visits(yard: Yard, job_id: str) -> list[tuple[str, int]]:
    return [(step.node_id, step.visit) for step in yard.taken(job_id)]


def test_it_works(yard: Yard) -> None:
    """Test, mend, test again; then on."""
    job = yard.run(yard.flow("a-b a-c:failure c-a:success*3", tasks={"a": {"task_arguments": []}}))
    for _ in range(2):
        yard.ends("a", code=1)
        yard.ends("c")
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
    assert yard.job(job.id).reason is None
    assert visits(yard, job.id) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1), ("c", 2)]
    assert len({step.job_id for step in yard.taken(job.id)}) == 6
    assert yard.db.write_blocking(consistency.check, "", 1_000) == []


def test_the_output_goes_round(yard: Yard) -> None:
    tasks = {"a": {"task_arguments": ONE}, "b": {"task_arguments": ONE}}
    job = yard.run(yard.flow("a-b b-a:again*2", tasks=tasks), ["1"])
    yard.ends("a", '["2"]')
    yard.ends("b", '{"event_name": "again", "output": ["3"]}')
    assert yard.values("a") == ["3"]
    yard.ends("a", '["4"]')
    assert yard.values("b") == ["4"]
    yard.ends("b", '["5"]')
    assert yard.stands(job.id) == "finished/normal"


def test_at_the_bound_it_fails_and_says_why(yard: Yard) -> None:
    job = yard.run(yard.flow("a-a:failure*2 a-b:always"))
    for _ in range(3):
        assert yard.stands(job.id) in ("ready/in_progress", "started/in_progress")
        yard.ends("a", code=1)
    yard.ends("b")
    assert yard.stands(job.id) == "finished/failure"
    told = "The edge a → a (failure) reached its limit of 2 visits (max_visits)."
    assert yard.job(job.id).reason == told
    # `b` had begun by the first end; what came later was no visit of its own.
    assert visits(yard, job.id) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]


def test_a_join_in_a_circle_waits_for_both_each_time(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c b-d c-d d-a:again*5", joins="d"))
    for _ in range(3):
        yard.ends("a")
        yard.ends("b")
        assert yard.waits() == ["c"]
        yard.ends("c")
        assert yard.waits() == ["d"]
        yard.ends("d", '{"event_name": "again"}')
    yard.ends("a")
    yard.ends("c")
    assert yard.waits() == ["b"], "the end of b in the round before does not count"
    yard.ends("b")
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_a_join_that_is_led_back_to(yard: Yard) -> None:
    """It waits for what can come first; what comes back starts it by itself."""
    tasks = {"d": {"task_arguments": [{"type": "input", "required": False}]}}
    job = yard.run(yard.flow("a-b a-c b-d c-d d-e:failure e-d:success*2", joins="d", tasks=tasks))
    yard.ends("a")
    yard.ends("b", '["from b"]')
    assert yard.waits() == ["c"]
    yard.ends("c")
    assert yard.values("d") == ["from b"]
    yard.ends("d", code=1)
    yard.ends("e", '["from e"]')
    assert yard.values("d") == ["from e"]
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_a_source_outside_the_circle_counts_each_time(yard: Yard) -> None:
    tasks = {"d": {"task_arguments": [{"type": "input"}, {"type": "input"}]}}
    job = yard.run(yard.flow("a-b a-c b-d c-d d-c:again*2", joins="d", tasks=tasks))
    yard.ends("a")
    yard.ends("b", '["b"]')
    yard.ends("c", '["c1"]')
    yard.ends("d", '{"event_name": "again"}')
    yard.ends("c", '["c2"]')
    assert yard.values("d") == ["b", "c2"]
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_a_slow_branch_starts_nothing_again(yard: Yard) -> None:
    """`d` began by `b`; the late `c` does not descend from it and is no second visit."""
    job = yard.run(yard.flow("a-b a-c b-d c-d d-a:again*5"))
    yard.ends("a")
    yard.ends("b")
    yard.ends("d")
    yard.ends("c")
    assert yard.waits() == []
    assert yard.stands(job.id) == "finished/normal"


def test_each_visit_tries_again_by_itself(yard: Yard) -> None:
    flow = yard.flow("a-b b-a:again*2", retry={"a": {"times": 1, "delay": 0}})
    job = yard.run(flow)
    for event in ("again", "success"):
        yard.ends("a", code=1)
        yard.ends("a")
        yard.ends("b", f'{{"event_name": "{event}"}}')
    assert yard.stands(job.id) == "finished/normal"
    assert [step.tries for step in yard.taken(job.id) if step.node_id == "a"] == [1, 1]


def test_an_approval_is_requested_again_each_time(yard: Yard) -> None:
    """And each yes is about what is there then."""
    job = yard.run(yard.flow("a-b b-c c-a:again*2", tasks={"b": ASK}))
    asked = []
    for event in ("again", "success"):
        yard.ends("a")
        assert yard.waits() == [], "nothing runs without a yes"
        asked.append(waiting(yard).id)
        assert sorted(shown(yard, waiting(yard))) == ["a", "c"]
        yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
        yard.react()
        yard.ends("c", f'{{"event_name": "{event}"}}')
        edit(yard, "c", script=OTHER)
    assert yard.stands(job.id) == "finished/normal"
    assert len(set(asked)) == 2


def test_what_a_yes_leads_round_to_starts_as_it_was_approved(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-c c-a:again*2", tasks={"b": ASK}))
    yard.ends("a")
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    edit(yard, "a", script=OTHER)
    yard.ends("c", '{"event_name": "again"}')
    assert "the script of a" in (yard.steps()[-1].reason or "")
    assert yard.stands(job.id) == "finished/failure"


def test_a_workflow_in_a_circle_is_a_new_job_each_time(yard: Yard) -> None:
    inner = yard.flow("x-y")
    job = yard.run(yard.flow("a-b b-a:success*1", flows={"b": inner}))
    for _ in range(2):
        yard.ends("a")
        yard.ends("x")
        yard.ends("y")
    assert yard.stands(job.id) == "finished/failure"
    whole = [step.job_id for step in yard.taken(job.id) if step.node_id == "b"]
    assert len(set(whole)) == 2
    assert [yard.stands(item) for item in whole] == ["finished/normal"] * 2


def test_a_cancel_ends_the_circle(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-a:always*9"))
    yard.ends("a")
    yard.ends("b")
    yard.cancel(job)
    yard.react()
    assert yard.waits() == []
    assert yard.stands(job.id) == "terminated/canceled"


def test_a_restart_goes_on_in_the_round_that_failed(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b b-a:again*2 b-c"))
    yard.ends("a")
    yard.ends("b", '{"event_name": "again"}')
    yard.ends("a", code=1)
    assert yard.stands(old.id) == "finished/failure"
    new = yard.restart(old)
    assert yard.waits() == ["a"]
    assert visits(yard, new.id) == [("a", 1), ("a", 2), ("b", 1)]
    yard.ends("a")
    yard.ends("b", '{"event_name": "again"}')
    yard.ends("a")
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"
    assert visits(yard, new.id)[-1] == ("c", 1)


def test_a_restart_at_the_bound_is_one_more_try(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b a-a:failure*1"))
    yard.ends("a", code=1)
    yard.ends("a", code=1)
    assert yard.stands(old.id) == "finished/failure"
    second = yard.restart(old)
    yard.ends("a", code=1)
    assert yard.stands(second.id) == "finished/failure"
    third = yard.restart(second)
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(third.id) == "finished/normal"
    assert visits(yard, third.id) == [("a", 1), ("a", 2), ("b", 1)]
    assert third.reason is None


def test_a_restart_goes_on_inside_a_workflow_of_a_later_round(yard: Yard) -> None:
    inner = yard.flow("x-y")
    old = yard.run(yard.flow("a-b b-a:success*1 b-c:canceled", flows={"b": inner}))
    yard.ends("a")
    yard.ends("x")
    yard.ends("y")
    yard.ends("a")
    yard.ends("x")
    yard.ends("y", code=1)
    assert yard.stands(old.id) == "finished/failure"
    new = yard.restart(old)
    assert yard.waits() == ["y"], "x of the second round is taken over"
    assert visits(yard, new.id) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_what_went_round_well_is_not_restarted(yard: Yard) -> None:
    job = yard.run(yard.flow("a-a:failure*3"))
    yard.ends("a", code=1)
    yard.ends("a")
    assert yard.stands(job.id) == "finished/normal"
    with pytest.raises(Conflict) as refused:
        yard.restart(job)
    assert refused.value.code == "nothing_failed"


def test_every_visit_is_listed_with_what_let_it_begin(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-a:success*1"))
    for name in "abab":
        yard.ends(name)
    found = yard.db.write_blocking(
        control.list_steps, yard.actors.ada, job.workflow_id or "", job.id
    )
    told = [(item.node_id, item.visit, msgspec.json.decode(item.causes)) for item in found]
    assert told == [
        ("a", 1, []),
        ("a", 2, [["b", 1]]),
        ("b", 1, [["a", 1]]),
        ("b", 2, [["a", 2]]),
    ]


def test_a_job_goes_on_over_the_upgrade(yard: Yard) -> None:
    """Its steps stood in a table without visits."""
    job = yard.run(yard.flow("a-b b-c"))
    yard.ends("a")
    before = yard.taken(job.id)
    yard.db.write_blocking(_as_of_old)
    yard.db.write_blocking(_upgrade)
    plain = [msgspec.structs.replace(step, causes="[]") for step in before]
    assert yard.taken(job.id) == plain
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"


def _as_of_old(tx: Tx) -> None:
    tx.execute("create table kept as select * from workflow_steps")
    tx.execute("drop table workflow_steps")
    (create,) = [item for item in _told(tx, "0014_workflows") if "table workflow_steps" in item]
    tx.execute(create)
    names = "workflow_job_id, node_id, job_id, tries, state, trigger_name, is_good, output, given"
    tx.execute(f"insert into workflow_steps ({names}) select {names} from kept")
    tx.execute("drop table kept")


def _upgrade(tx: Tx) -> None:
    for statement in _told(tx, "0035_visits"):
        tx.execute(statement)


def _told(tx: Tx, name: str) -> list[str]:
    return statements(dict(migrations(tx.dialect.name))[name])
