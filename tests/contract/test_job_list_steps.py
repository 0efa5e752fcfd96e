"""Lists of jobs that examine a limited number of rows, and continue."""

from urllib.parse import parse_qs, urlsplit

from contract.client import Client
from contract.running import create
from contract.world import World


async def create_jobs(world: World, uma: Client) -> tuple[list[str], list[str]]:
    """Six jobs, every third of them rare; all of them, and the rare, oldest first."""
    often, rare = await world.task("often"), await world.task("rare")
    jobs = [(await create(uma, often if n % 3 else rare))["id"] for n in range(6)]
    return jobs, jobs[::3]


async def follow_links(client: Client, path: str) -> tuple[list[list[str]], list[str | None]]:
    """Every page that `Link` leads to, and how far each request searched."""
    pages, ends = [], []
    while path:
        response = await client.get(path)
        assert response.status == 200, response.body
        pages.append([record["id"] for record in response.json])
        ends.append(response.headers.get("x-looked-until"))
        link = response.headers.get("link")
        path = link[1 : link.index(">")] if link else ""
    return pages, ends


async def test_a_filtered_list_continues_after_each_step(world: World, uma: Client) -> None:
    jobs, rare = await create_jobs(world, uma)
    pages, ends = await follow_links(uma, "/acme/job?where[name]=rare&look=2")
    assert pages == [[], [rare[1]], [rare[0]]]
    assert ends == [jobs[4], jobs[2], None]


async def test_a_full_page_continues_after_its_last_record(world: World, uma: Client) -> None:
    jobs, _ = await create_jobs(world, uma)
    response = await uma.get("/acme/job?limit=2&look=5")
    after = parse_qs(urlsplit(response.headers["link"][1:].split(">")[0]).query)["after"]
    assert after == [jobs[4]] and response.headers["x-looked-until"] == jobs[1]
    pages, _ = await follow_links(uma, "/acme/job?limit=2&look=5")
    assert [item for page in pages for item in page] == jobs[::-1]


async def test_the_other_way_round(world: World, uma: Client) -> None:
    jobs, rare = await create_jobs(world, uma)
    pages, ends = await follow_links(uma, "/acme/job?where[name]=rare&sort[id]=1&look=2")
    assert pages == [[rare[0]], [rare[1]], []] and ends == [jobs[1], jobs[3], None]


async def test_the_list_reports_how_many_rows_it_examined(world: World, uma: Client) -> None:
    jobs, _ = await create_jobs(world, uma)
    few = await uma.get("/acme/job?where[name]=rare&look=4&count_most=10")
    assert (few.headers["x-total-count"], few.headers["x-total-more"]) == ("1", "true")
    all_ = await uma.get("/acme/job?where[name]=rare&look=6&count_most=10")
    assert all_.headers["x-total-count"] == "2" and "x-total-more" not in all_.headers
    newer = await uma.get(f"/acme/job?where[id][$gt]={jobs[3]}&look=2&count_most=9")
    assert newer.headers["x-total-count"] == "2" and "x-looked-until" not in newer.headers


async def test_a_task_is_looked_through_alone(world: World, uma: Client) -> None:
    jobs, rare = await create_jobs(world, uma)
    task_id = (await uma.get(f"/acme/job/{rare[0]}")).json["task_id"]
    pages, _ = await follow_links(uma, f"/acme/job?where[task_id]={task_id}&look=2")
    assert pages == [rare[::-1]]
    assert (await follow_links(uma, f"/acme/job?where[task_id]={task_id}&after={jobs[3]}"))[0] == [
        [rare[0]]
    ]


async def test_open_jobs_and_bad_ends_are_found_at_once(world: World, uma: Client) -> None:
    jobs, _ = await create_jobs(world, uma)
    await uma.put(f"/acme/job/{jobs[0]}/cancel")
    assert await follow_links(uma, "/acme/job?where[state]=canceled&look=1") == (
        [[jobs[0]]],
        [None],
    )
    path = f"/acme/job?where[lifecycle]=ready&where[id][$lte]={jobs[2]}&look=1"
    assert await follow_links(uma, path) == ([[jobs[2], jobs[1]]], [None])


async def test_another_order_sorts_the_newest_jobs(world: World, uma: Client) -> None:
    jobs, _ = await create_jobs(world, uma)
    [page], ends = await follow_links(uma, "/acme/job?sort[creation_date]=1&look=3")
    assert sorted(page) == jobs[-3:] and ends == [jobs[-3]]


async def test_other_organizations_see_no_jobs(world: World, uma: Client, eve: Client) -> None:
    await create_jobs(world, uma)
    assert await follow_links(eve, "/globex/job?look=2") == ([[]], [None])


async def test_wrong_numbers_are_refused(uma: Client) -> None:
    for bad in ("0", "x", "100001"):
        assert (await uma.get(f"/acme/job?look={bad}")).code == "bad_query"
