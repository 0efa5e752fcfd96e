"""Lists and searches of people never delay what the server and its agents need."""

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from belvedere.db import Tx
from belvedere.db.search_lane import SEARCH_THREADS, SearchLane, SearchLimits
from belvedere.jobs.queries import pages
from belvedere.rest import pagination
from contract import flowing
from contract.client import Client
from contract.running import create, run
from contract.world import SOURCE, World

PATIENCE_S = 30.0
# Searches of each organization: together more than either engine has threads for other reads.
MANY = 8


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator["HeldSearches"]:
    held_searches = HeldSearches()
    monkeypatch.setattr(pages, "read_page", held_searches)
    yield held_searches
    held_searches.released.set()


class HeldSearches:
    """Lists of jobs that stay on their thread until the test lets them go."""

    def __init__(self) -> None:
        self._looked = pages.read_page
        self._entered = threading.Semaphore(0)
        self.released = threading.Event()

    def __call__(self, tx: Tx, *args: Any) -> Any:
        self._entered.release()
        assert self.released.wait(PATIENCE_S)
        return self._looked(tx, *args)

    async def wait_entered(self, count: int) -> None:
        for _ in range(count):
            assert await asyncio.to_thread(self._entered.acquire, timeout=PATIENCE_S)


async def test_jobs_and_reads_do_not_wait_for_searches(
    world: World, uma: Client, eve: Client, vic: Client, searches: HeldSearches
) -> None:
    """Agents get their scripts, people their records, and jobs run to their end."""
    task = await world.task()
    job = await create(uma, task)
    async with world.agent() as agent:
        await agent.end(await agent.order())
        lists = [(vic, "/acme/job?q=nothing"), (eve, "/globex/job?where[name]=nothing")] * MANY
        waiting = [asyncio.create_task(client.get(path)) for client, path in lists]
        await searches.wait_entered(SEARCH_THREADS)
        async with asyncio.timeout(PATIENCE_S):
            script = await agent.fetch(hashlib.sha256(SOURCE.encode()).hexdigest())
            assert script == SOURCE.encode()
            assert (await vic.get(f"/acme/job/{job['id']}")).status == 200
            assert (await vic.get(f"/acme/task/{task}")).status == 200
            assert (await run(uma, agent, task))["state"] == "normal"
        assert not any(item.done() for item in waiting)
        searches.released.set()
        assert {item.status for item in await asyncio.gather(*waiting)} == {200}


async def test_a_search_over_the_limit_is_refused_with_advice(
    world: World, vic: Client, searches: HeldSearches
) -> None:
    world.runtime.searches = SearchLane(SearchLimits(places=1, share=1, queue=1))
    waiting = [asyncio.create_task(vic.get("/acme/job")) for _ in range(2)]
    await searches.wait_entered(1)
    while not world.runtime.searches.waiting:
        await asyncio.sleep(0)
    refused = await vic.get("/acme/job")
    assert (refused.status, refused.code) == (429, "too_many_searches")
    assert refused.headers["retry-after"] == "2" and "try again" in refused.json["message"]
    searches.released.set()
    assert [item.status for item in await asyncio.gather(*waiting)] == [200, 200]


async def test_every_list_with_filters_runs_in_the_lane(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = await flowing.create_workflow(world, ada)
    flow_job = await flowing.run(ada, flow)
    hook = (await ada.post("/acme/webhook", {"name": "hook", "tasks": [await world.task()]})).json
    ids = {"workflows": flow["id"], "webhook": hook["id"]}
    lists = [
        route.path.replace("{workflow_job_id}", flow_job["id"]).replace(
            "{id}", ids.get(route.path.split("/")[1], "")
        )
        for route in world.runtime.router.routes
        if set(pagination.QUERY) <= set(route.query)
    ]
    assert len(lists) > 20 and not any("//" in path for path in lists)
    paths = [*lists, "/-/search?q=x", "/-/needs", "/api/audit", "/api/audit.csv", "/event"]
    steps: list[str] = []
    search = world.runtime.db.search

    async def count_search(*args: Any) -> Any:
        steps.append(path)
        return await search(*args)

    monkeypatch.setattr(world.runtime.db, "search", count_search, raising=False)
    for path in paths:
        assert (await ada.get(path)).status == 200, path
    assert [path for path in paths if path not in steps] == []
