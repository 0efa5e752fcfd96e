"""Search of jobs by any part of their texts: what is found, by whom, and at which cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from belvedere.access.actor import Actor
from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx
from belvedere.jobs.history import retention
from belvedere.jobs.queries import list_details, pages
from belvedere.jobs.search import candidates, index, progress, terms
from belvedere.rest.listing import Condition, Listing
from belvedere.server.background import consumers
from jobs.job_steps import JobSteps
from statements import RecordingTx, cost

[CONSUMER] = [item for item in consumers.CONSUMERS if item.name == progress.CONSUMER]


def search(
    steps: JobSteps, text: str, actor: Actor | None = None, limit: int | None = None, **rest: Any
) -> list[str]:
    """The ids of all pages, newest first."""

    def read(tx: Tx) -> list[str]:
        ids, after = list[str](), None
        for _ in range(200):
            listing = terms.with_search(
                Listing(pages.listable(tx.dialect), limit=1_000, after=after, **rest), text
            )
            page = pages.read_page(tx, actor or steps.actors.ada, listing, None, limit)
            ids += [record.id for record in page.records]
            if page.until is None:
                return ids
            after = page.until
        raise AssertionError("The search does not end.")

    return steps.db.write_blocking(read)


def add_all(steps: JobSteps) -> None:
    """What the server does in the background."""
    steps.db.write_blocking(progress.start)
    while steps.db.write_blocking(consumers.run_batch, None, CONSUMER):  # type: ignore[arg-type]
        pass
    while steps.db.write_blocking(progress.add_older):
        pass
    while steps.db.dialect.text_index.merge and steps.db.write_blocking(index.merge_step):
        pass


def count_indexed(steps: JobSteps) -> int:
    return int(steps.db.write_blocking(lambda tx: tx.value("select count(*) from job_search")))


@pytest.fixture(params=["before the index", "with the index"])
def is_indexed(request: pytest.FixtureRequest) -> bool:
    return str(request.param) == "with the index"


def echo(steps: JobSteps, name: str = "greet", **fields: Any) -> str:
    argument = {"type": "input", "label": "who", "order": 0}
    return steps.task(name=name, task_arguments=[argument], **fields)


def test_any_part_of_the_texts_of_a_job_is_found(steps: JobSteps, is_indexed: bool) -> None:
    job = steps.assign(echo(steps, "Nightly Import"), given=["Invoice-4711 “Ärger”"])
    steps.end(job.fence, lastline='{"state":"success","data":["Paid \\"in full\\""]}')
    other = steps.create(steps.task(name="other"))
    if is_indexed:
        add_all(steps)
        assert count_indexed(steps) == 2
    words = ["nightly", "ghtly imp", "INVOICE-47", "4711 import", "ärger", "ÄRGER”", job.id[3:20]]
    words += ['"in full\\"', "ly", job.email[:5] + " nightly"]
    for text in words:
        assert job.id in search(steps, text), text
    for text in ("invoice-4712", "nightly other", "lastline", "%", "nightly_import"):
        assert search(steps, text) == [], text
    assert search(steps, "") == [other.id, job.id]


HOSTILE = ['" OR "', "greet*", "^greet", "greet NOT x", "NEAR(a b)", "'", "''", "\\", "\\'"]
HOSTILE += ["text:greet", "scopes : x", "& |", "!greet", "<->", ":*", "(((", "\U000f0001" * 3]


def test_a_search_text_has_no_syntax(steps: JobSteps) -> None:
    task_id = echo(steps)
    jobs = {text: steps.create(task_id, given=[f"x{text}x"]).id for text in HOSTILE}
    add_all(steps)
    for text, job_id in jobs.items():
        ids = search(steps, text)
        assert job_id in ids and len(ids) < 5, text
    assert search(steps, " ".join(f"word{n}" for n in range(60))[:256]) == []


def test_masked_arguments_are_not_found(steps: JobSteps, is_indexed: bool) -> None:
    arguments = [
        {"type": "input", "label": "key", "order": 0, "masked": True},
        {"type": "input", "label": "name", "order": 1},
    ]
    job = steps.create(steps.task(task_arguments=arguments), given=["hunter2222", "public"])
    if is_indexed:
        add_all(steps)
    assert search(steps, "public") == [job.id]
    assert search(steps, "hunter2222") == [] and search(steps, "sealed") == []


def test_only_visible_jobs_of_the_own_organization_are_found(steps: JobSteps) -> None:
    job = steps.create(steps.task(name="secret plan"))
    add_all(steps)
    actors = steps.actors
    assert search(steps, "secret plan") == [job.id]
    for actor in (actors.vic, actors.eve):
        assert search(steps, "secret plan", actor) == []
        listing = terms.with_search(Listing(pages.listable(steps.db.dialect)), "secret plan")
        counts = steps.db.write_blocking(list_details.count_states, actor, listing)
        assert counts.counts == [] and not counts.more
        page = steps.db.write_blocking(pages.read_page, actor, listing, 100, 100)
        assert page.total == 0


def test_how_far_a_search_got_does_not_depend_on_invisible_jobs(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = echo(steps)
    for _ in range(3):
        steps.create(task_id, given=["contoso"])
    add_all(steps)
    monkeypatch.setattr(candidates, "MAX_CANDIDATES", 2)
    pages_of = {}
    for text in ("contoso", "contxso"):
        listing = terms.with_search(Listing(pages.listable(steps.db.dialect)), text)
        pages_of[text] = steps.db.write_blocking(
            pages.read_page, steps.actors.vic, listing, 100, 100
        )
    assert pages_of["contoso"] == pages_of["contxso"]


def test_a_new_job_is_found_before_it_is_in_the_index(steps: JobSteps) -> None:
    task_id = echo(steps)
    old = steps.assign(task_id, given=["first invoice"])
    add_all(steps)
    new = steps.create(task_id, given=["second invoice"])
    steps.end(old.fence, lastline="paid in full")
    assert search(steps, "invoice") == [new.id, old.id]
    assert search(steps, "paid in full") == [old.id]
    add_all(steps)
    assert search(steps, "invoice") == [new.id, old.id] and count_indexed(steps) == 2
    assert search(steps, "paid in full") == [old.id]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("newest_first", [True, False])
def test_pages_are_complete_while_the_index_is_filled(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch, limit: int, newest_first: bool
) -> None:
    """Older jobs that are not in the index yet, jobs that are, and more changes than are read."""
    task_id, other_id = echo(steps), echo(steps, "other")
    jobs = [steps.create(task_id if n % 3 else other_id, given=[f"nr {n}"]).id for n in range(8)]
    monkeypatch.setattr(progress, "BATCH_SIZE", 4)
    monkeypatch.setattr(progress, "CLOCK_MARGIN", 0)
    monkeypatch.setattr(candidates, "MAX_CANDIDATES", limit)
    steps.db.write_blocking(progress.start)
    assert steps.db.write_blocking(progress.add_older) and count_indexed(steps) == 4
    monkeypatch.setattr(progress, "MAX_FRESH", 2)
    jobs += [steps.create(task_id if n % 3 else other_id, given=["nr"]).id for n in range(4)]
    expected = [job_id for n, job_id in enumerate(jobs) if (n - 8 if n >= 8 else n) % 3]
    sort = (("id", newest_first),)
    ids = search(steps, "greet", limit=limit, sort=sort)
    assert ids == (expected[::-1] if newest_first else expected)


def test_conditions_select_within_the_search(steps: JobSteps) -> None:
    task_id, other_id = echo(steps), echo(steps, "other")
    ended = steps.assign(task_id, given=["invoice"])
    steps.end(ended.fence, code=1)
    waiting = steps.create(task_id, given=["invoice"])
    other = steps.create(other_id, given=["invoice"])
    add_all(steps)

    def where(*conditions: Condition, **rest: Any) -> list[str]:
        return search(steps, "invoice", conditions=conditions, **rest)

    assert where() == [other.id, waiting.id, ended.id]
    assert where(Condition("task_id", "$eq", (task_id,))) == [waiting.id, ended.id]
    assert where(Condition("state", "$eq", ("failure",))) == [ended.id]
    assert where(Condition("lifecycle", "$in", ("ready",))) == [other.id, waiting.id]
    assert where(Condition("id", "$eq", (waiting.id,))) == [waiting.id]
    assert where(sort=(("name", False),)) == [waiting.id, ended.id, other.id]


def test_the_index_of_a_new_installation_has_no_older_jobs_to_add(steps: JobSteps) -> None:
    steps.db.write_blocking(progress.start)
    assert steps.db.write_blocking(progress.is_complete)
    job = steps.create(echo(steps), given=["x"])
    add_all(steps)
    assert count_indexed(steps) == 1 and search(steps, "greet") == [job.id]


def test_a_job_that_has_ended_is_added_once(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found before, and so are jobs that were created with their end."""
    steps.db.write_blocking(progress.start)
    steps.end(steps.assign(echo(steps), given=["invoice"]).fence, lastline="paid")
    dummy = steps.create(steps.task(type="dummy", name="greet"))
    writes: list[str] = []
    write = index.write

    def record(tx: Tx, job_ids: Sequence[str]) -> None:
        writes.extend(job_ids)
        write(tx, job_ids)

    monkeypatch.setattr(index, "write", record)
    single = replace(CONSUMER, batch_size=1)
    ids = search(steps, "greet")
    assert len(ids) == 2
    while steps.db.write_blocking(consumers.run_batch, None, single):  # type: ignore[arg-type]
        assert search(steps, "greet") == ids
    assert sorted(writes) == sorted(ids) and dummy.id in ids
    assert search(steps, "paid") == [job_id for job_id in ids if job_id != dummy.id]


def test_a_long_job_is_found_while_the_index_is_far_behind(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among more changes than a search reads."""
    monkeypatch.setattr(progress, "MAX_FRESH", 3)
    # Ids contain the real time.
    monkeypatch.setattr(progress, "CLOCK_MARGIN", 0)
    steps.db.write_blocking(progress.start)
    task_id = steps.task(name="greet")
    long = steps.assign(task_id)
    for _ in range(8):
        steps.clock.move(progress._MAX_DURATION)
        steps.end(steps.assign(task_id).fence)
    steps.end(long.fence)
    ids = search(steps, "greet")
    assert len(ids) == 9
    single = replace(CONSUMER, batch_size=1)
    while steps.db.write_blocking(consumers.run_batch, None, single):  # type: ignore[arg-type]
        assert search(steps, "greet") == ids
    assert count_indexed(steps) == 9


def test_a_batch_and_its_progress_are_one_transaction(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [steps.create(echo(steps), given=["x"]).id for _ in range(3)]
    steps.db.write_blocking(progress.start)
    monkeypatch.setattr(progress, "BATCH_SIZE", 2)
    jobs.append(steps.create(echo(steps), given=["x"]).id)

    def kill_in(operation: Any, *args: Any) -> None:
        def run(tx: Tx) -> None:
            operation(tx, *args)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            steps.db.write_blocking(run)

    kill_in(progress.add_older)
    kill_in(consumers.run_batch, None, CONSUMER)
    assert count_indexed(steps) == 0 and search(steps, "greet") == jobs[::-1]
    assert steps.db.write_blocking(progress.add_older) and count_indexed(steps) == 2
    kill_in(progress.add_older)
    add_all(steps)
    assert count_indexed(steps) == 4 and search(steps, "greet") == jobs[::-1]
    assert steps.db.write_blocking(progress.is_complete)


def test_deleted_jobs_leave_the_index(steps: JobSteps) -> None:
    job = steps.assign(echo(steps), given=["invoice"])
    steps.end(job.fence)
    rest = steps.create(echo(steps), given=["invoice"])
    add_all(steps)
    steps.db.write_blocking(retention.delete_jobs, [job.id])
    assert count_indexed(steps) == 1 and search(steps, "invoice") == [rest.id]
    # An event of a job that is gone changes nothing.
    steps.db.write_blocking(progress.add_changed, steps.events(job.id))
    assert count_indexed(steps) == 1


def test_a_search_costs_the_same_with_a_longer_history(steps: JobSteps) -> None:
    """With a text that one old job contains, and without a match."""
    task_id = echo(steps)
    job = steps.assign(task_id, given=["needle-4711"])
    steps.end(job.fence, lastline="straw")
    steps.clock.move(1)
    rare = steps.assign(steps.task(name="unlike"))
    steps.end(rare.fence)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, task_id)
    steps.db.write_blocking(history_data.fill, history, 0, 300, 300)
    add_all(steps)
    short = [search_cost(steps, text) for text in ("needle-4711", "no such text")]
    steps.db.write_blocking(history_data.fill, history, 300, 1_200, 1_500)
    add_all(steps)
    long = [search_cost(steps, text) for text in ("needle-4711", "no such text")]
    assert all(after <= 1.3 * before + 50 for before, after in zip(short, long, strict=True))


def search_cost(steps: JobSteps, text: str, actor: Actor | None = None) -> int:
    def run(tx: Tx) -> int:
        if tx.dialect.name == "postgres":
            tx.execute("analyze job_search, jobs, events")
        else:
            # A search reads one to four parts per level of the index, depending on the batches.
            tx.execute("insert into job_search (job_search) values ('optimize')")
        recording = RecordingTx(tx)
        listing = terms.with_search(Listing(pages.listable(tx.dialect), limit=50), text)
        page = pages.read_page(recording, actor or steps.actors.ada, listing, None, 5_000)
        assert page.until is None
        return sum(cost(tx, item) for item in recording.statements if item[1])

    return steps.db.write_blocking(run)
