"""Old jobs of workflows go with their steps; what is under way stays."""

from belvedere.jobs.history import limits, retention
from workflows.workflow_steps import Yard


def purge(yard: Yard) -> None:
    while yard.db.write_blocking(retention.purge):
        pass


def count(yard: Yard, table: str) -> int:
    found: int = yard.db.write_blocking(lambda tx: tx.value(f"select count(*) from {table}"))
    return found


def test_it_works(yard: Yard) -> None:
    yard.run(yard.flow("a-b"))
    yard.ends("a")
    yard.ends("b")
    yard.clock.move(91 * 86_400)
    purge(yard)
    for table in ("jobs", "workflow_jobs", "workflow_steps"):
        assert count(yard, table) == 0


def test_a_step_of_one_under_way_stays_however_old(yard: Yard) -> None:
    tasks = {"a": {"history": {"count": 0, "days": 0}}, "b": {"expires": 365 * 86_400_000}}
    job = yard.run(yard.flow("a-b", tasks=tasks))
    yard.ends("a", '["x"]')
    yard.clock.move(100 * 86_400)
    yard.db.write_blocking(limits.start_over)
    purge(yard)
    assert [step.name for step in yard.steps()] == ["a", "b"]
    yard.connect()
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
    yard.db.write_blocking(limits.start_over)
    purge(yard)
    # The task keeps nothing; the whole is kept by the workflow's own rule.
    assert [step.name for step in yard.steps()] == ["b"]
