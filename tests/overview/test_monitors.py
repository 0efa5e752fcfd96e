"""Monitors as rows of a page."""

from typing import Any

import pytest

from belvedere.base.clock import DAY, HOUR, MINUTE
from contract.client import Client
from contract.world import World
from overview.monitoring import check, monitor, set_state


async def lines(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = await client.get(f"/-/board/monitors?{query}")
    assert response.status == 200, response.body
    return [record for record in response.json if record["type"] != "host"]


async def test_a_line_shows_recent_checks_and_metric(world: World, vic: Client) -> None:
    shop = await monitor(world, "shop", "scraper", url="http://example.com", tags=["web"])
    await check(world, shop, ["normal", "failure", "normal", "normal"], measured={"ms": 12.5})
    (line,) = await lines(vic)
    assert line["beats"] == "nfnn"
    assert (line["metric"], line["unit"], line["value"]) == ("ms", "ms", 12.5)
    assert line["spark"] == [12.5] * 4
    assert line["spark_step"] == MINUTE
    assert line["uptime_day"] == line["uptime_month"] == 75.0
    assert (line["hostname"], line["tags"], line["state"]) == ("web-1", ["web"], "unknown")
    assert line["beats_from"] < line["beats_to"]


async def test_a_line_says_that_its_host_is_down(world: World, vic: Client) -> None:
    await monitor(world, "shop", "scraper", config={"url": "http://shop.test/"})
    await monitor(world, "push")
    down = {line["name"]: line["is_host_down"] for line in await lines(vic)}
    assert down == {"shop": True, "push": False}
    async with world.agent("web-1"):
        assert [line["is_host_down"] for line in await lines(vic)] == [False, False]


async def test_only_the_last_thirty_checks_are_shown(world: World, vic: Client) -> None:
    shop = await monitor(world)
    await check(world, shop, ["failure"] * 10 + ["normal"] * 30)
    (line,) = await lines(vic)
    assert line["beats"] == "n" * 30
    assert (line["metric"], line["value"], line["spark"]) == (None, None, [])
    assert line["uptime_day"] == 75.0


async def test_a_gap_is_seen(world: World, vic: Client) -> None:
    shop = await monitor(world)
    await check(world, shop, ["normal", "", "", "", "normal", "", "", ""])
    (line,) = await lines(vic)
    assert line["beats"] == "n-n-"


async def test_a_rare_check_has_a_check_strip_too(world: World, vic: Client) -> None:
    daily = await monitor(world, looptime=DAY)
    hourly = await monitor(world, "hourly", looptime=HOUR)
    await check(world, daily, ["normal", "failure", "normal"], every=DAY)
    await check(world, hourly, ["failure", "normal"], every=HOUR)
    assert [line["beats"] for line in await lines(vic, "sort[name]=1")] == ["fn", "nfn"]


async def test_an_old_monitor_is_drawn_by_the_hour(world: World, vic: Client) -> None:
    shop = await monitor(world, "shop", "ping", target="example.com", looptime=HOUR)
    await check(world, shop, ["normal"] * 48, every=HOUR, measured={"ms": 3.0})
    (line,) = await lines(vic)
    assert line["spark_step"] == HOUR
    assert line["spark"] == [3.0] * 25


async def test_missing_values_are_not_drawn(world: World, vic: Client) -> None:
    await monitor(world, "shop", "ping", target="example.com")
    (line,) = await lines(vic)
    assert (line["metric"], line["spark"], line["spark_from"]) == (None, [], None)
    assert (line["beats"], line["uptime_day"]) == ("", None)


async def test_the_worst_states_come_first(world: World, vic: Client) -> None:
    for name, state, severity in (
        ("fine", "normal", "HIGH"),
        ("bad", "failure", "LOW"),
        ("silent", "updates_stopped", "HIGH"),
        ("worst", "failure", "CRITICAL"),
        ("paused", "paused", "HIGH"),
    ):
        monitor_id = await monitor(world, name, failure_severity=severity)
        await set_state(world, monitor_id, state)
    query = "where[type]=push&sort[rank]=1&sort[name]=1"
    ordered = [line["name"] for line in await lines(vic, query)]
    assert ordered == ["worst", "bad", "silent", "fine", "paused"]
    page = [line["name"] for line in await lines(vic, f"{query}&limit=2&skip=1")]
    assert page == ["bad", "silent"]


async def test_the_list_can_be_filtered(world: World, vic: Client) -> None:
    await monitor(world, "Shop of acme", tags=["web", "money"])
    await monitor(world, "mail")
    assert [line["name"] for line in await lines(vic, "where[tags]=money")] == ["Shop of acme"]
    assert [line["name"] for line in await lines(vic, "where[name][$text]=SHOP")] == [
        "Shop of acme"
    ]
    counted = await vic.get("/-/board/monitors?where[type]=push&count=true&limit=1")
    assert counted.headers["x-total-count"] == "2"


async def test_an_acl_hides_a_monitor(world: World, vic: Client, uma: Client, eve: Client) -> None:
    await monitor(world, "hidden", acl=["uma"])
    assert await lines(vic) == []
    assert [line["name"] for line in await lines(uma)] == ["hidden"]
    assert await lines(eve) == []


@pytest.mark.parametrize("query", ["where[nothing]=1", "skip=-1", "sort[rank]=2", "after=x"])
async def test_an_invalid_query_is_refused(vic: Client, query: str) -> None:
    assert (await vic.get(f"/-/board/monitors?{query}")).status == 400
