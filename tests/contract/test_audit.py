"""The audit log: filters and export."""

import csv
import io
from urllib.parse import quote

import pytest

from contract.client import Client
from contract.world import World
from manual_clock import ManualClock


async def actions(client: Client, query: str) -> list[str]:
    response = await client.get(f"/api/audit?{query}")
    assert response.status == 200, response.body
    return [record["action"] for record in response.json]


async def story(world: World, clock: ManualClock) -> tuple[str, str]:
    """Three changes by two people, a day apart."""
    ada, olga = world.client("ada"), world.client("olga")
    clock.move(60)
    response = (await ada.post("/indicator", {"title": "=cmd()", "type": "counter"})).json["id"]
    clock.move(1)
    noon = quote((await ada.get("/-/health")).json["time"])
    clock.move(60)
    await ada.patch(f"/indicator/{response}", {"title": "sales"})
    await olga.post("/webhook", {"name": "x"})
    return response, noon


async def test_the_audit_log_is_filtered(world: World, ada: Client, clock: ManualClock) -> None:
    text, _ = await story(world, clock)
    assert await actions(ada, "limit=3") == [
        "webhook.create",
        "indicator.change",
        "indicator.create",
    ]
    assert await actions(ada, "user=OLGA&limit=1") == ["webhook.create"]
    assert await actions(ada, "object=indicator") == ["indicator.change", "indicator.create"]
    assert await actions(ada, f"object_id={text}&action=indicator.ch") == ["indicator.change"]
    assert await actions(ada, "kind=secret") == []
    assert await actions(ada, "action=%25") == []


async def test_entries_are_filtered_by_time(world: World, ada: Client, clock: ManualClock) -> None:
    _, noon = await story(world, clock)
    after = await actions(ada, f"from={noon}&object=indicator")
    before = await actions(ada, f"to={noon}&object=indicator")
    assert (after, before) == (["indicator.change"], ["indicator.create"])


async def test_the_audit_log_shows_values_before_and_after(
    world: World, ada: Client, clock: ManualClock
) -> None:
    text, _ = await story(world, clock)
    (change, _) = (await ada.get(f"/api/audit?object_id={text}")).json
    assert (change["before"]["title"], change["after"]["title"]) == ("=cmd()", "sales")


async def test_the_audit_log_is_exported(world: World, ada: Client, clock: ManualClock) -> None:
    text, _ = await story(world, clock)
    response = await ada.get("/api/audit.csv?object=indicator")
    assert response.headers["content-type"].startswith("text/csv")
    assert "attachment" in response.headers["content-disposition"]
    head, *rows = csv.reader(io.StringIO(response.text))
    assert head[:5] == ["date", "user", "kind", "address", "action"]
    assert [(row[1], row[4], row[6]) for row in rows] == [
        ("ada@acme.test", "indicator.change", text),
        ("ada@acme.test", "indicator.create", text),
    ]
    few = await ada.get("/api/audit.csv?limit=1")
    assert len(list(csv.reader(io.StringIO(few.text)))) == 2


async def test_no_cell_is_a_formula(world: World, ada: Client) -> None:
    from belvedere.access.api.audit import _safe

    assert [_safe(text) for text in ("=1+1", "@x", "-2", "+3", "x=1", "")] == [
        *("'=1+1", "'@x", "'-2", "'+3", "x=1", ""),
    ]


async def test_a_long_export_is_complete(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from belvedere.access import audit

    monkeypatch.setattr(audit, "MAX_PAGE", 2)
    for n in range(5):
        await ada.post("/webhook", {"name": f"w{n}"})
    response = await ada.get("/api/audit.csv?object=webhook")
    _, *rows = csv.reader(io.StringIO(response.text))
    assert len({row[6] for row in rows}) == len(rows) == 5


@pytest.mark.parametrize(
    "query", ["limit=0", "from=x", "to=x", "after=x", "object_id=x", "user=%00"]
)
@pytest.mark.parametrize("endpoint", ["/api/audit", "/api/audit.csv"])
async def test_an_invalid_query_is_refused(ada: Client, endpoint: str, query: str) -> None:
    assert (await ada.get(f"{endpoint}?{query}")).status == 400


async def test_only_admins_export_the_audit_log(world: World, uma: Client, eve: Client) -> None:
    assert (await uma.get("/api/audit.csv")).code == "level"
    assert "acme" not in (await eve.get("/api/audit.csv")).text
