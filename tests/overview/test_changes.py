"""Short rows of monitors and hosts, for pages that are being watched."""

import gzip
from typing import Any

import msgspec
import pytest

from belvedere.base.clock import MINUTE, iso
from belvedere.db import Tx
from contract.client import Client
from contract.running import create
from contract.world import World
from manual_clock import ManualClock
from overview.monitoring import check, monitor, set_state

MONITORS = 207
MAX_BYTES_A_ROW = 36


async def changes(client: Client, noun: str, query: str = "") -> list[dict[str, Any]]:
    response = await client.get(f"/-/board/{noun}/changes?{query}")
    assert response.status == 200, response.body
    rows: list[dict[str, Any]] = response.json
    return rows


def _set_checked(tx: Tx, monitor_id: str, ms_ago: int = 0) -> None:
    """Its state is a day older than its last check."""
    sql = "update monitors set checked_at = ?, state_at = ? where id = ?"
    tx.execute(sql, tx.now - ms_ago, tx.now - ms_ago * 1_440, monitor_id)


async def test_a_change_has_the_values_of_the_complete_row(world: World, vic: Client) -> None:
    shop = await monitor(world, "shop", "scraper", url="http://example.com", tags=["web"])
    await check(world, shop, ["normal", "failure", "normal"], measured={"ms": 12.5})
    await world.runtime.db.write(_set_checked, shop)
    query = f"where[id]={shop}&sort[rank]=1"
    (change,) = await changes(vic, "monitors", query)
    (line,) = (await vic.get(f"/-/board/monitors?{query}")).json
    assert set(change) == {
        *("id", "version", "state", "state_since", "last_check", "beats", "value", "is_host_down")
    }
    assert change == {name: line[name] for name in change}


async def test_only_monitors_that_were_checked_since_are_listed(
    world: World, vic: Client, clock: ManualClock
) -> None:
    first, second = await monitor(world, "first"), await monitor(world, "second")
    await world.runtime.db.write(_set_checked, first)
    since = iso(world.runtime.clock())
    assert await changes(vic, "monitors", f"since={since}") == []
    clock.move(1)
    await world.runtime.db.write(_set_checked, second)
    response = await vic.get(f"/-/board/monitors/changes?since={since}&count=true&where[type]=push")
    assert [row["id"] for row in response.json] == [second]
    assert response.headers["x-total-count"] == "2"


async def test_a_monitor_that_was_edited_since_is_listed(
    world: World, ada: Client, vic: Client, clock: ManualClock
) -> None:
    shop = await monitor(world, "shop")
    await world.runtime.db.write(_set_checked, shop)
    since = iso(world.runtime.clock())
    clock.move(1)
    assert await changes(vic, "monitors", f"since={since}") == []
    assert (await ada.patch(f"/monitor/{shop}", {"name": "store"})).status == 200
    assert [row["id"] for row in await changes(vic, "monitors", f"since={since}")] == [shop]


async def test_the_order_of_a_page_is_listed_alone(world: World, vic: Client) -> None:
    names = {await monitor(world, name): name for name in ("a", "b", "c")}
    await set_state(world, list(names)[2], "failure")
    query = "where[type]=push&sort[rank]=1&sort[name]=1&limit=2&count=true"
    response = await vic.get(f"/-/board/monitors/order?{query}")
    assert [names[row["id"]] for row in response.json] == ["c", "a"]
    assert response.headers["x-total-count"] == "3"


async def test_changes_have_the_order_and_the_filters_of_the_page(
    world: World, vic: Client
) -> None:
    names = {await monitor(world, name): name for name in ("a", "b", "c")}
    await set_state(world, list(names)[2], "failure")
    rows = await changes(vic, "monitors", "where[type]=push&sort[rank]=1&sort[name]=1&limit=2")
    assert [names[row["id"]] for row in rows] == ["c", "a"]


async def test_an_acl_hides_changes(world: World, vic: Client, uma: Client) -> None:
    hidden = await monitor(world, "hidden", acl=["uma"])
    query = f"where[id]={hidden}"
    assert await changes(vic, "monitors", query) == []
    assert [row["id"] for row in await changes(uma, "monitors", query)] == [hidden]


async def test_a_host_is_left_out_while_nothing_happens_on_it(world: World, uma: Client) -> None:
    stats = await monitor(world, "stats", "dstat")
    await check(world, stats, ["normal"], measured={"cpu": 12.0, "mem": 40.0, "disk /": 70.0})
    now = world.runtime.clock()
    (web_1, web_2) = await changes(uma, "hosts", "sort[hostname]=1")
    assert (web_1["cpu"], web_1["mem"], web_1["disk"], web_1["monitors"]) == (12, 40, 70, 1)
    assert "cpu" not in web_2
    (newer,) = await changes(uma, "hosts", f"since={iso(now - MINUTE)}")
    assert newer == web_1
    assert await changes(uma, "hosts", f"since={iso(now)}") == []


async def test_a_host_with_a_job_or_a_failing_monitor_is_always_listed(
    world: World, uma: Client
) -> None:
    since = iso(world.runtime.clock() + MINUTE)
    shop = await monitor(world, "shop", "scraper", url="http://example.com")
    await set_state(world, shop, "failure")
    (row,) = await changes(uma, "hosts", f"since={since}")
    assert row["failing"] == 1
    await set_state(world, shop, "normal")
    job = await create(uma, await world.task())
    await world.runtime.db.write(_run, job["id"])
    (row,) = await changes(uma, "hosts", f"since={since}")
    assert row["running"] == 1 and "failing" not in row


def _run(tx: Tx, job_id: str) -> None:
    tx.execute("update jobs set lifecycle = 'assigned' where id = ?", job_id)


async def test_an_invalid_time_is_refused(vic: Client) -> None:
    for noun in ("monitors", "hosts"):
        assert (await vic.get(f"/-/board/{noun}/changes?since=today")).status == 400


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_round_of_results_of_many_monitors_is_small(world: World, vic: Client) -> None:
    """Pages read it four times a minute, with 20 kB a minute for everything."""
    for n in range(MONITORS):
        shop = await monitor(world, f"shop {n}", "scraper", url=f"http://shop-{n}.test")
        await check(world, shop, ["normal"] * 10, measured={"ms": 12.5 + 7 * n % 311})
        await world.runtime.db.write(_set_checked, shop, 287 * n)
    query = "where[type]=scraper&sort[rank]=1&sort[name]=1&since=2020-01-01T00:00:00.000Z"
    response = await vic.get(
        f"/-/board/monitors/changes?{query}", headers={"accept-encoding": "gzip"}
    )
    rows = msgspec.json.decode(gzip.decompress(response.body))
    assert len(rows) == 200
    assert len(response.body) < MAX_BYTES_A_ROW * len(rows)
