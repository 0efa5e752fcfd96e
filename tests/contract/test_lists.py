"""Lists: where, sort, limit, after, include, count, Link."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from belvedere.settings import Settings
from contract.client import Client
from contract.running import create, run
from contract.world import World
from manual_clock import ManualClock


async def ids(client: Client, query: str = "") -> list[str]:
    response = await client.get(f"/acme/job?{query}")
    assert response.status == 200, response.body
    return [record["id"] for record in response.json]


async def test_a_list_is_filtered(world: World, uma: Client) -> None:
    task_id, other = await world.task("one"), await world.task("other")
    first, second = await create(uma, task_id), await create(uma, other)
    assert await ids(uma, f"where[task_id]={task_id}") == [first["id"]]
    assert await ids(uma, "where[name]=other") == [second["id"]]


async def test_every_operator_compares(world: World, uma: Client, clock: ManualClock) -> None:
    jobs = []
    for n in range(3):
        jobs.append(await create(uma, await world.task(f"t{n}")))
        clock.move(1)
    a, b, c = [job["id"] for job in jobs]
    day = [job["creation_date"] for job in jobs]
    cases = {
        f"where[id]={b}": [b],
        f"where[id][$ne]={b}": [c, a],
        f"where[id][$in][]={a}&where[id][$in][]={c}": [c, a],
        "where[name][$in]=t0": [a],
        f"where[creation_date][$gt]={day[1]}": [c],
        f"where[creation_date][$gte]={day[1]}": [c, b],
        f"where[creation_date][$lt]={day[1]}": [a],
        f"where[creation_date][$lte]={day[1]}": [b, a],
        f"where[creation_date][$gte]={day[1]}&where[name][$ne]=t2": [b],
        "where[lifecycle]=ready&where[state]=in_progress&where[origin]=user": [c, b, a],
        f"where[user_id]={world.actors.uma.user_id}&where[name]=t1": [b],
        f"where[host_id]={jobs[0]['host_id']}&where[name]=t2": [c],
        "where[acl]=vic@acme.test&where[name]=t0": [a],
        "where[acl]=nobody@acme.test": [],
        "where[workflow_id]=": [],
        "where[workflow_job_id][$ne]=x": [c, b, a],
        "where[notify]=true&where[name]=t0": [a],
        "where[_type]=ScriptJob&where[name]=t1": [b],
    }
    for query, expected in cases.items():
        assert await ids(uma, query) == expected, query


async def test_arguments_are_compared_by_index(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}, {"type": "input"}])
    first = await create(uma, task, ["a", "x"])
    second = await create(uma, task, ["b", "x"])
    assert await ids(uma, "where[task_arguments_values.0]=a") == [first["id"]]
    assert await ids(uma, "where[task_arguments_values.1]=x") == [second["id"], first["id"]]
    assert await ids(uma, "where[task_arguments_values.7]=x") == []


REFUSED = [
    "where[secret]=x",
    "where[customer_id]=x",
    "where[name][$regex]=x",
    "where[name][$where]=x",
    "where[name]=a&where[name]=b",
    "where[creation_date]=yesterday",
    "where[creation_date][$gt]=9999999999999999999",
    "where[notify]=maybe",
    "where[name]=%00",
    "sort[secret]=1",
    "sort[name]=up",
    "sort[acl]=1",
    "include[secret]=1",
    "include[task]=maybe",
    "limit=-1",
    "limit=x",
    "limit=1.5",
    "limit=99999999999999999999",
    "after=x",
    f"after={'0' * 24}&sort[name]=1",
    "count=perhaps",
    "where[id][$in][0][1]=x",
    "where[notify][$gt]=true",
]


async def test_unknown_and_invalid_filters_are_refused(uma: Client) -> None:
    for query in REFUSED:
        refused = await uma.get(f"/acme/job?{query}")
        assert refused.status == 400, query
        assert refused.json["errors"][0]["field"], query


async def test_unknown_parameters_are_ignored(uma: Client) -> None:
    assert await ids(uma, "colour=blue&_=1&where=x") == []


async def test_a_list_can_be_sorted(world: World, uma: Client) -> None:
    b, a = await create(uma, await world.task("b")), await create(uma, await world.task("a"))
    assert await ids(uma, "sort[name]=1") == [a["id"], b["id"]]
    assert await ids(uma, "sort[name]=-1") == [b["id"], a["id"]]
    assert await ids(uma, "sort[id]=1") == [b["id"], a["id"]]
    assert await ids(uma, "sort[state]=1&sort[name]=-1") == [b["id"], a["id"]]


async def test_pages_follow_each_other_without_gap_or_overlap(world: World, uma: Client) -> None:
    task = await world.task()
    new_ids = [(await create(uma, task))["id"] for _ in range(7)]
    target: str | None = "/acme/job?limit=3&where[name]=echo"
    pages = []
    while target is not None:
        response = await uma.get(target)
        pages.append([record["id"] for record in response.json])
        # Records that are created in between must not move the pages.
        await create(uma, task)
        link = response.headers.get("link")
        target = None if link is None else link[1 : link.index(">")]
        assert link is None or link.endswith('; rel="next"')
    assert pages == [new_ids[:3:-1], new_ids[3:0:-1], new_ids[0:1]]


async def test_the_next_link_repeats_the_question_without_the_token(world: World) -> None:
    uma = world.client("uma")
    task = await world.task()
    last = [(await create(uma, task))["id"] for _ in range(2)][1]
    token = world.actors.tokens["uma"]
    anonymous = world.client()
    response = await anonymous.get(f"/job?customer=acme&limit=1&sort[id]=-1&access_token={token}")
    link = urlsplit(response.headers["link"][1 : response.headers["link"].index(">")])
    assert link.path == "/job" and not link.netloc
    record = parse_qs(link.query)
    assert record == {"customer": ["acme"], "limit": ["1"], "sort[id]": ["-1"], "after": [last]}


@pytest.fixture
def proxied_url(settings: Settings) -> None:
    settings.url = "http://tools.test/ops"


@pytest.mark.usefixtures("proxied_url")
async def test_the_next_link_has_the_path_that_a_proxy_removes(world: World, uma: Client) -> None:
    await create(uma, await world.task())
    response = await uma.get("/acme/job?limit=1")
    assert response.headers["link"].startswith("</ops/acme/job?limit=1&after=")


async def test_the_total_is_returned_only_on_request(
    world: World, uma: Client, vic: Client
) -> None:
    task_id, hidden = await world.task("shown"), await world.task("hidden", acl=["uma"])
    for task in (task_id, task_id, hidden):
        await create(uma, task)
    assert "x-total-count" not in (await uma.get("/acme/job")).headers
    response = await uma.get("/acme/job?count=true&limit=1")
    assert (response.headers["x-total-count"], len(response.json)) == ("3", 1)
    assert (await vic.get("/acme/job?count=true")).headers["x-total-count"] == "2"
    narrowed = await uma.get("/acme/job?count=true&where[name]=hidden")
    assert narrowed.headers["x-total-count"] == "1"


async def test_heavy_fields_come_only_when_included(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        task = await world.task()
        await run(uma, agent, task, log="text\n", lastline='["out"]')
    light = (await uma.get("/acme/job")).json[0]
    assert not {"task", "task_arguments_values", "output", "attempts"} & light.keys()
    assert light["result"]["code"] == 0 and "log" not in light["result"]
    record = (await uma.get(f"/acme/job/{light['id']}")).json
    for name in ("task", "task_arguments_values", "output", "attempts"):
        response = (await uma.get(f"/acme/job?include[{name}]=1")).json[0]
        assert response[name] == record[name]
    logged = (await uma.get("/acme/job?include[result.log]=1")).json[0]
    assert logged["result"]["log"] == "text\n"


async def test_originals_of_include_are_accepted(uma: Client) -> None:
    assert await ids(uma, "include[state]=1&include[creation_date]=1&include[lifecycle]=1") == []


async def test_at_most_a_thousand_come_at_once(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())

    def copy(tx: Any) -> None:
        row = tx.rows("select * from jobs where id = ?", job["id"])[0]
        marks = ", ".join("?" * len(row))
        rows = [(f"{n:024x}", *row[1:]) for n in range(1_001)]
        tx.execute_many(f"insert into jobs values ({marks})", rows)

    await world.runtime.db.write(copy)
    for query in ("", "limit=0", "limit=5000"):
        response = await uma.get(f"/acme/job?{query}")
        assert len(response.json) == 1_000
        assert "link" in response.headers


async def test_other_lists_are_complete_and_oldest_first(world: World, ada: Client) -> None:
    tasks = [await world.task(f"t{n}") for n in range(3)]
    response = await ada.get("/acme/task")
    assert [host["id"] for host in response.json] == tasks and "link" not in response.headers
    page = await ada.get("/acme/task?limit=2")
    assert [host["id"] for host in page.json] == tasks[:2] and "link" in page.headers
    assert [host["hostname"] for host in (await ada.get("/acme/host")).json] == ["web-1", "web-2"]


async def test_the_originals_filter_wraps_once_more(ada: Client) -> None:
    response = await ada.get("/acme/host?filter[where][hostname]=web-2")
    assert [record["hostname"] for record in response.json] == ["web-2"]


async def test_a_text_finds_jobs(world: World, uma: Client) -> None:
    job = await create(uma, await world.task("Nightly backup"))
    other = await create(uma, await world.task("other"))
    assert await ids(uma, "q=BACKUP") == [job["id"]]
    assert await ids(uma, f"q={other['id']}") == [other["id"]]
    assert await ids(uma, "q=uma@acme") == [other["id"], job["id"]]
    assert await ids(uma, "q=100%25") == []


async def test_the_total_is_counted_up_to_the_requested_number(world: World, uma: Client) -> None:
    task = await world.task()
    for _ in range(3):
        await create(uma, task)
    few = await uma.get("/job?limit=1&count_most=2")
    assert (few.headers["x-total-count"], few.headers["x-total-more"]) == ("2", "true")
    all_ = await uma.get("/job?limit=1&count_most=3")
    assert all_.headers["x-total-count"] == "3" and "x-total-more" not in all_.headers
    for bad in ("0", "x", "100001"):
        assert (await uma.get(f"/job?count_most={bad}")).code == "bad_query"


async def test_pages_go_both_ways(world: World, uma: Client) -> None:
    task = await world.task()
    jobs = [(await create(uma, task))["id"] for _ in range(4)]
    assert await ids(uma, f"limit=2&after={jobs[3]}") == [jobs[2], jobs[1]]
    assert await ids(uma, f"limit=2&sort[id]=1&after={jobs[1]}") == [jobs[2], jobs[3]]
