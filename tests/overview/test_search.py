"""Searching by name, tag and id."""

from typing import Any

import pytest

from belvedere.base.errors import Invalid
from belvedere.monitors import service as monitors
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.overview.search import search
from contract.client import Client
from contract.running import create
from contract.world import World


async def names(client: Client, text: str, more: str = "") -> list[tuple[str, str]]:
    response = await client.get(f"/-/search?q={text}{more}")
    assert response.status == 200, response.body
    return [(record["kind"], record["name"]) for record in response.json]


async def monitor(world: World, name: str, **more: Any) -> str:
    body = MonitorBody(name=name, type="push", **more)
    record = await world.runtime.db.write(
        monitors.create, world.runtime.keyring, world.actors.ada, body, None
    )
    return record[0].id


async def test_objects_are_found_by_name(world: World, uma: Client) -> None:
    await world.task("nightly backup", tags=["storage"])
    await world.task("restore a backup")
    await monitor(world, "backup")
    assert await names(uma, "backup") == [
        ("monitor", "backup"),
        ("task", "nightly backup"),
        ("task", "restore a backup"),
    ]
    assert await names(uma, "Backup+NIGHT") == [("task", "nightly backup")]
    assert await names(uma, "storage") == [("task", "nightly backup")]


async def test_the_best_match_comes_first(world: World, uma: Client) -> None:
    for name in ("a deploy", "redeploy", "deploy", "deploy now"):
        await world.task(name)
    actual_names = [name for _, name in await names(uma, "deploy", "&kind=task")]
    assert actual_names == ["deploy", "deploy now", "a deploy", "redeploy"]


async def test_search_finds_objects_of_every_kind(world: World) -> None:
    ada = world.client("ada")
    task = await world.task("zebra")
    await monitor(world, "zebra")
    await ada.post(
        "/workflows", {"name": "zebra", "graph": {"nodes": [{"id": "a", "task_id": task}]}}
    )
    await ada.post("/indicator", {"title": "zebra", "type": "counter"})
    await ada.post("/webhook", {"name": "zebra"})
    await ada.post(f"/task/{task}/schedule", {"name": "zebra", "repeatEvery": "0 5 * * *"})
    kinds = {kind for kind, _ in await names(ada, "zebra")}
    expected = {"task", "workflow", "monitor", "indicator", "webhook", "schedule", "script"}
    assert kinds == expected
    assert await names(ada, "web-1", "&kind=host") == [("host", "web-1")]
    assert await names(ada, "uma@acme", "&kind=member") == [("member", "uma")]


async def test_jobs_are_found_by_the_start_of_their_id(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    records = (await uma.get(f"/-/search?q={job['id']}")).json
    assert [(record["kind"], record["id"], record["detail"]) for record in records] == [
        ("job", job["id"], "ready")
    ]
    assert [record["id"] for record in (await uma.get(f"/-/search?q={job['id'][:20]}")).json] == [
        job["id"]
    ]


async def test_everything_is_found_by_its_short_id(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.task("nightly backup")
    job = await create(uma, task)

    async def matches(text: str) -> list[tuple[str, str]]:
        rows = (await uma.get(f"/-/search?q={text}")).json
        return [(row["kind"], row["id"]) for row in rows]

    assert await matches(job["id"][-6:]) == [("job", job["id"])]
    assert await matches(f"%23{job['id'][-6:]}") == [("job", job["id"])]
    assert await matches(f"%23{task[-6:]}") == [("task", task)]
    assert await matches(f"%23{job['id'][-7:]}") == []
    # Older jobs are not compared, which limits the cost.
    monkeypatch.setattr("belvedere.overview.search.MAX_SHORT_ID_JOBS", 1)
    await create(uma, task)
    assert await matches(job["id"][-6:]) == []


async def test_search_finds_no_objects_hidden_by_an_acl(world: World) -> None:
    task = await world.task("hidden", acl=["uma"])
    job = await create(world.client("uma"), task)
    vic, ada = world.client("vic"), world.client("ada")
    await ada.post(f"/task/{task}/schedule", {"name": "hidden", "repeatEvery": "0 5 * * *"})
    await monitor(world, "hidden", acl=["uma"])
    assert await names(vic, "hidden") == []
    assert await names(vic, job["id"]) == []
    assert {kind for kind, _ in await names(world.client("uma"), "hidden")} == {
        *("task", "monitor", "schedule")
    }
    assert {kind for kind, _ in await names(world.client("eve"), "hidden")} == set()
    assert await names(world.client("eve"), "uma") == []


async def test_scripts_are_for_managers(world: World) -> None:
    await world.task("lynx", acl=["uma", "max"])
    assert await names(world.client("uma"), "lynx.sh") == []
    assert await names(world.client("max"), "lynx.sh") == [("script", "lynx.sh")]


async def test_results_show_whether_they_may_be_run(world: World) -> None:
    await world.task("open", acl=["uma", "vic"])
    body = {}
    for who in ("vic", "uma", "max", "ada"):
        (actual_search,) = (await world.client(who).get("/-/search?q=open&kind=task")).json
        body[who] = actual_search["may_run"]
    assert body == {"vic": False, "uma": True, "max": False, "ada": True}


async def test_wildcards_of_like_are_escaped(world: World, uma: Client) -> None:
    await world.task("100% sure")
    await world.task("under_score")
    assert await names(uma, "%25", "&kind=task") == [("task", "100% sure")]
    assert await names(uma, "r_s", "&kind=task") == [("task", "under_score")]
    assert await names(uma, "%27%20or%201=1") == []


async def test_the_number_of_results_is_limited_on_request(world: World, uma: Client) -> None:
    for n in range(4):
        await world.task(f"many {n}")
    assert len(await names(uma, "many", "&limit=3")) == 3


@pytest.mark.parametrize("query", ["", "q=", "q=%20", "q=a&limit=0", "q=a&limit=101", "q=a&kind=x"])
async def test_an_invalid_query_is_refused(uma: Client, query: str) -> None:
    assert (await uma.get(f"/-/search?{query}")).code == "bad_query"


async def test_a_long_search_text_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        await world.runtime.db.read(search, world.actors.uma, "x" * 201)
