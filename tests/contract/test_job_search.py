"""Search of jobs over HTTP."""

from urllib.parse import quote

from belvedere.jobs.search import progress
from belvedere.server.background import consumers
from contract.client import Client
from contract.job_search_index import add_all
from contract.running import create
from contract.world import World


async def ids(client: Client, text: str, query: str = "") -> list[str]:
    response = await client.get(f"/acme/job?q={quote(text)}{query}")
    assert response.status == 200, response.body
    return [record["id"] for record in response.json]


async def test_jobs_are_found_by_arguments_and_name(world: World, uma: Client) -> None:
    argument = {"type": "input", "label": "number", "order": 0}
    task_id = await world.task("Invoices", task_arguments=[argument])
    first, second = [(await create(uma, task_id, [text]))["id"] for text in ("AB-4711", "AB-4712")]
    for _ in range(2):
        assert await ids(uma, "4711 invoic") == [first]
        assert await ids(uma, "ab-47", "&limit=1") == [second]
        assert await ids(uma, "ab-47", "&sort[id]=1") == [first, second]
        counts = (await uma.get("/acme/job/counts?q=4711")).json
        assert [row["count"] for row in counts["counts"]] == [1] and not counts["more"]
        # The second time with the index.
        await add_all(world)
    counted = await uma.get("/acme/job?q=ab-47&count_most=1")
    assert (counted.headers["x-total-count"], counted.headers["x-total-more"]) == ("1", "true")


async def test_a_text_that_is_too_long_is_refused(uma: Client) -> None:
    assert (await uma.get(f"/acme/job?q={'x' * 257}")).code == "bad_query"
    assert (await uma.get("/acme/job?q=a%00b")).code == "bad_query"
    assert (await uma.get(f"/acme/job?q={'x' * 256}")).json == []


async def test_search_finds_only_visible_jobs(world: World, uma: Client) -> None:
    job_id = (await create(uma, await world.task("hidden plan", acl=["uma"])))["id"]
    await add_all(world)
    assert await ids(uma, "hidden plan") == [job_id]
    vic = world.client("vic")
    assert await ids(vic, "hidden plan") == []
    assert (await vic.get("/acme/job/counts?q=hidden")).json == {"counts": [], "more": False}
    counted = await vic.get("/acme/job?q=hidden&count_most=10")
    assert counted.headers["x-total-count"] == "0"
    assert (await world.client("eve").get("/globex/job?q=hidden")).json == []


async def test_an_idle_server_writes_nothing(world: World, uma: Client) -> None:
    await create(uma, await world.task())
    await add_all(world)
    before = sum(world.runtime.db.transaction_times.counts)
    await add_all(world)
    assert sum(world.runtime.db.transaction_times.counts) == before


async def test_metrics_tell_whether_the_index_is_complete(world: World, uma: Client) -> None:
    db = world.runtime.db
    assert await db.read(progress.is_complete)
    await create(uma, await world.task())
    # As after a restore.
    await db.write(lambda tx: tx.execute("delete from job_search_progress"))
    await db.write(progress.start)
    assert not await db.read(progress.is_complete)
    await add_all(world)
    assert await world.runtime.db.read(progress.is_complete)
    assert progress.CONSUMER in {consumer.name for consumer in consumers.CONSUMERS}
