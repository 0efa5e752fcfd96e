"""Status pages: created by admins, visible to everybody, without internal data."""

from typing import Any

import pytest

from belvedere import events
from belvedere.base.clock import DAY
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock
from overview.monitoring import check, monitor, set_state

MISSING = "0" * 24


async def make(client: Client, **more: Any) -> dict[str, Any]:
    response = await client.post("/statuspage", {"title": "Acme", "slug": "acme-page", **more})
    assert response.status == 201, response.body
    record: dict[str, Any] = response.json
    return record


async def read_page(client: Client, slug: str = "acme-page") -> dict[str, Any]:
    response = await client.get(f"/-/status/{slug}")
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def test_a_status_page_shows_its_monitors(
    world: World, ada: Client, anonymous: Client
) -> None:
    inner = await monitor(world, "db-7.inner", "ping", target="10.0.0.7", tags=["secret-tag"])
    await check(world, inner, ["normal", "normal", "failure", "normal"], every=DAY)
    await set_state(world, inner, "normal")
    record = await make(ada, parts=[{"name": "Shop", "group": "Web", "monitor_id": inner}])
    assert record["url"].endswith("/-/status/acme-page")
    page = await read_page(anonymous)
    (part,) = page["parts"]
    assert (page["title"], page["state"]) == ("Acme", "normal")
    assert (part["name"], part["group"], part["state"]) == ("Shop", "Web", "normal")
    assert (part["uptime_day"], part["uptime_week"]) == (100.0, 75.0)
    assert part["uptime_quarter"] == part["uptime_month"] == 75.0
    assert len(part["days"]) == 90
    assert [day["up"] for day in part["days"][-5:]] == [None, 100.0, 100.0, 0.0, 100.0]


async def test_nothing_but_public_names_leaves(
    world: World, ada: Client, anonymous: Client
) -> None:
    inner = await monitor(world, "db-7.inner", "ping", target="10.0.0.7", tags=["secret-tag"])
    await set_state(world, inner, "failure")
    title = {"title": "orders-inner", "type": "counter", "state": "failure"}
    indicator = (await ada.post("/indicator", title)).json["id"]
    parts = [
        {"name": "Shop", "monitor_id": inner},
        {"name": "All", "tag": "secret-tag"},
        {"name": "Orders", "indicator_id": indicator},
    ]
    await make(ada, parts=parts)
    text = (await anonymous.get("/-/status/acme-page")).text
    text += (await anonymous.get("/-/status/acme-page/badge.svg")).text
    inside = (inner, indicator, "inner", "10.0.0.7", "secret-tag", "web-1", "acme.test")
    assert [word for word in inside if word in text] == []
    assert [part["state"] for part in (await read_page(anonymous))["parts"]] == ["failure"] * 3


async def test_a_tag_has_the_state_of_its_worst_monitor(
    world: World, ada: Client, anonymous: Client
) -> None:
    for name, state, checks in (("a", "normal", ["normal"]), ("b", "updates_stopped", ["failure"])):
        monitor_id = await monitor(world, name, tags=["web"])
        await check(world, monitor_id, checks)
        await set_state(world, monitor_id, state)
    await make(ada, parts=[{"name": "Web", "tag": "web"}, {"name": "None", "tag": "nothing"}])
    web, none = (await read_page(anonymous))["parts"]
    assert (web["state"], web["uptime_day"]) == ("unknown", 50.0)
    assert (none["state"], none["uptime_day"], none["since"]) == ("unknown", None, None)


async def test_failures_are_incidents(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    shop = await monitor(world, "inner")
    customer = world.actors.acme.id
    for kind in ("monitor.failure", "monitor.recovered", "monitor.failure"):
        clock.move(60)
        await world.runtime.db.write(events.append, customer, kind, shop, {"message": "inner"})
    await make(ada, parts=[{"name": "Shop", "monitor_id": shop}])
    newest, older = (await read_page(anonymous))["incidents"]
    assert (newest["name"], newest["ended"]) == ("Shop", None)
    assert older["started"] < older["ended"] < newest["started"]


async def test_a_status_page_is_at_most_seconds_old(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    shop = await monitor(world)
    await make(ada, parts=[{"name": "Shop", "monitor_id": shop}])
    before = await read_page(anonymous)
    await set_state(world, shop, "failure")
    assert await read_page(anonymous) == before
    clock.move(6)
    assert (await read_page(anonymous))["state"] == "failure"


async def test_a_hidden_or_deleted_page_is_not_found(ada: Client, anonymous: Client) -> None:
    record = await make(ada, enable=False)
    assert (await anonymous.get("/-/status/acme-page")).code == "statuspage_not_found"
    await ada.patch(f"/statuspage/{record['id']}", {"enable": True})
    assert (await anonymous.get("/-/status/acme-page")).status == 200
    assert (await ada.delete(f"/statuspage/{record['id']}")).status == 200
    assert (await ada.get("/statuspage")).json == []
    for slug in ("never", "%00", "A", "x" * 300):
        assert (await anonymous.get(f"/-/status/{slug}")).status == 404


async def test_a_deleted_monitor_is_unknown(world: World, ada: Client, anonymous: Client) -> None:
    shop = await monitor(world)
    await make(ada, parts=[{"name": "Shop", "monitor_id": shop}])
    assert (await ada.delete(f"/monitor/{shop}")).status == 200
    assert [part["state"] for part in (await read_page(anonymous))["parts"]] == ["unknown"]


async def test_the_badge_says_it_in_words(ada: Client, anonymous: Client) -> None:
    await make(ada, title="<Acme>")
    picture = await anonymous.get("/-/status/acme-page/badge.svg")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert "&lt;Acme&gt;" in picture.text and "unknown" in picture.text


async def test_a_slug_is_unique(ada: Client, eve: Client) -> None:
    record = await make(ada)
    assert (await eve.post("/statuspage", {"title": "x", "slug": "acme-page"})).code == "slug_taken"
    other = (await eve.post("/statuspage", {"title": "x"})).json
    assert len(other["slug"]) >= 16
    refused = await eve.patch(f"/statuspage/{other['id']}", {"slug": "acme-page"})
    assert refused.code == "slug_taken"
    assert (await eve.get(f"/statuspage/{record['id']}")).code == "statuspage_not_found"


async def test_admins_change_it_and_managers_look(world: World, ada: Client, uma: Client) -> None:
    record = await make(ada)
    max_ = world.client("max")
    assert (await max_.get("/acme/statuspage")).json == [record]
    assert (await max_.patch(f"/statuspage/{record['id']}", {"title": "x"})).code == "level"
    assert (await uma.get("/statuspage")).code == "level"
    stale = {"if-match": "9"}
    refused = await ada.patch(f"/statuspage/{record['id']}", {"title": "x"}, headers=stale)
    assert (refused.status, refused.code) == (412, "stale")
    rows = (await ada.get(f"/api/audit?object_id={record['id']}")).json
    assert [row["action"] for row in rows] == ["statuspage.create"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": "x" * 121},
        {"slug": "A"},
        {"slug": "../x"},
        {"slug": "-x-"},
        {"parts": [{"name": "x"}]},
        {"parts": [{"name": "", "tag": "x"}]},
        {"parts": [{"name": "x", "tag": "x", "monitor_id": MISSING}]},
        {"parts": [{"name": "x", "monitor_id": MISSING}]},
        {"parts": [{"name": "x", "indicator_id": "\u0000"}]},
        {"parts": [{"name": "x", "tag": "y"}] * 101},
        {"more": 1},
    ],
)
async def test_an_invalid_status_page_is_refused(ada: Client, wrong: dict[str, Any]) -> None:
    body = {"title": "Acme", **wrong}
    assert (await ada.post("/statuspage", body)).code == "invalid_body"


async def test_monitors_of_another_organization_are_refused(world: World, eve: Client) -> None:
    theirs = await monitor(world)
    body = {"title": "x", "parts": [{"name": "x", "monitor_id": theirs}]}
    assert (await eve.post("/statuspage", body)).code == "invalid_body"
