"""A list of jobs examines a limited number of rows, and continues where it stopped."""

from typing import Any

import pytest

from belvedere.access import searches
from belvedere.db import Tx
from belvedere.jobs.queries import pages
from belvedere.rest import response_budget
from contract.client import Client, Response
from contract.running import create
from contract.world import World

PATIENCE_S = 30.0
STEP, MOST, JOBS = 2, 5, 13


async def jobs_of(world: World, uma: Client) -> list[str]:
    """Every fourth is of the task that is searched for; newest first."""
    common, rare = await world.task("common"), await world.task("rare")
    tasks = [rare if n % 4 == 0 else common for n in range(JOBS)]
    return [(await create(uma, task))["id"] for task in tasks][::-1]


async def follow(client: Client, path: str) -> list[Response]:
    answers = [await client.get(path)]
    while link := answers[-1].headers.get("link"):
        answers.append(await client.get(link[1 : link.index(">")]))
    return answers


def ids_of(answers: list[Response]) -> list[str]:
    return [record["id"] for answer in answers for record in answer.json]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that each step was allowed to examine."""
    steps: list[int] = []
    read = pages.read_page

    def count_steps(tx: Tx, actor: Any, listing: Any, most: Any, look: Any, size: int = 0) -> Any:
        steps.append(look)
        return read(tx, actor, listing, most, look, size)

    monkeypatch.setattr(pages, "read_page", count_steps)
    return steps


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)


FILTERS = (
    "where[name]=rare",
    "where[name]=nothing",
    "where[email][$text]=example",
    "q=rare",
    "where[lifecycle]=finished",
    "where[state]=normal",
    "where[name]=rare&limit=1",
    "limit=3",
    "where[name]=rare&sort[id]=1",
    "where[name]=rare&include[task]=1",
    "count=true&where[name]=rare",
    "count_most=2&where[name]=rare",
)


@pytest.mark.parametrize("query", FILTERS)
async def test_pages_together_are_the_full_result(
    world: World, uma: Client, rows: list[int], monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    await jobs_of(world, uma)
    expected = ids_of(await follow(uma, f"/acme/job?{query}"))
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    rows.clear()
    answers = await follow(uma, f"/acme/job?{query}")
    assert ids_of(answers) == expected
    assert max(rows) <= STEP and sum(rows) <= len(answers) * MOST


async def test_a_search_without_a_match_stops_at_its_budget(
    world: World, uma: Client, small_steps: None, rows: list[int]
) -> None:
    """A search without a match stops at its budget and says where to continue."""
    jobs = await jobs_of(world, uma)
    first = await uma.get("/acme/job?where[name]=nothing")
    assert first.json == [] and rows == [2, 2, 1]
    assert first.headers["x-looked-until"] == jobs[MOST - 1]
    assert f"after={jobs[MOST - 1]}" in first.headers["link"]
    rest = await follow(uma, first.headers["link"][1:].partition(">")[0])
    assert len(rest) == 2 and ids_of(rest) == []


async def test_a_full_page_examines_no_more_rows(
    world: World, uma: Client, small_steps: None, rows: list[int]
) -> None:
    jobs = await jobs_of(world, uma)
    assert ids_of([await uma.get("/acme/job?limit=2")]) == jobs[:2] and rows == [2]


async def test_a_total_within_the_budget_is_marked_as_partial(
    world: World, uma: Client, small_steps: None
) -> None:
    await jobs_of(world, uma)
    partial = await uma.get("/acme/job?count=true&limit=1&where[name]=rare")
    assert partial.headers["x-total-count"] == "2" and partial.headers["x-total-more"] == "true"
    searches.MAX_ROWS = 100
    exact = await uma.get("/acme/job?count=true&limit=1&where[name]=rare")
    assert exact.headers["x-total-count"] == "4" and "x-total-more" not in exact.headers


async def test_no_further_step_begins_after_the_time(
    world: World, uma: Client, small_steps: None, rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await jobs_of(world, uma)
    monkeypatch.setattr(searches, "MAX_STEPS_S", -1.0)
    response = await uma.get("/acme/job?where[name]=nothing")
    assert rows == [STEP] and response.headers["x-looked-until"] == jobs[STEP - 1]


async def test_steps_share_one_budget_of_bytes(
    world: World, uma: Client, small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await jobs_of(world, uma)
    sizes = [len(answer.body) for answer in await follow(uma, "/acme/job?include[task]=1&limit=1")]
    most = sum(sizes[:3]) + 50
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (most,))
    answers = await follow(uma, "/acme/job?include[task]=1")
    assert ids_of(answers) == jobs and all(len(answer.body) <= most + 50 for answer in answers)


async def test_jobs_by_id_need_no_history(
    world: World, uma: Client, small_steps: None, rows: list[int]
) -> None:
    jobs = await jobs_of(world, uma)
    query = "&".join(f"where[id][$in][]={job}" for job in (jobs[0], jobs[-1]))
    response = await uma.get(f"/acme/job?{query}")
    assert ids_of([response]) == [jobs[0], jobs[-1]] and "link" not in response.headers
    assert len(rows) == 1


SORTS = ("sort[name]=1", "sort[name]=-1", "sort[state]=1&sort[name]=-1", "sort[creation_date]=1")


@pytest.mark.parametrize("limit", [3, 1_000])
async def test_another_order_is_sorted_step_by_step(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch, rows: list[int], limit: int
) -> None:
    await jobs_of(world, uma)
    paths = [f"/acme/job?{sort}&limit={limit}&count=true" for sort in SORTS]
    complete = [await uma.get(path) for path in paths]
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    rows.clear()
    for path, expected in zip(paths, complete, strict=True):
        response = await uma.get(path)
        assert ids_of([response]) == ids_of([expected])
        assert response.headers["x-total-count"] == str(JOBS)
        assert not {"link", "x-looked-until"} & set(response.headers)
    assert set(rows) == {STEP, None}


async def test_another_order_says_how_far_it_examined(
    world: World, uma: Client, small_steps: None
) -> None:
    """There is no next page in this order."""
    jobs = await jobs_of(world, uma)
    response = await uma.get("/acme/job?sort[name]=-1&limit=2")
    assert response.json[0]["name"] == "rare" and set(ids_of([response])) < set(jobs[:MOST])
    assert response.headers["x-looked-until"] == jobs[MOST - 1]
    assert "link" not in response.headers


async def test_the_newest_by_time_need_one_step(
    world: World, uma: Client, small_steps: None, rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "MAX_CLOCK_DIFFERENCE", -1)
    await jobs_of(world, uma)
    response = await uma.get("/acme/job?sort[creation_date]=-1&limit=2")
    assert len(response.json) == 2 and "x-looked-until" not in response.headers
    assert rows == [STEP]
