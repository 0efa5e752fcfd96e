"""The Indicator rows of interface.md, and what decisions.md section 8 adds to them."""

import xml.dom.minidom
from typing import Any
from urllib.parse import quote

import pytest

from contract import interface_fields
from contract.client import Client, Response
from contract.world import World
from manual_clock import ManualClock

UMA, VIC = "uma@acme.test", "vic@acme.test"
MISSING = "0" * 24

INDICATOR: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "customer_id", "user_id"), interface_fields.identifier),
    **dict.fromkeys(("title", "type", "_type", "state", "severity"), interface_fields.string),
    **dict.fromkeys(("description", "customer_name"), interface_fields.string),
    **dict.fromkeys(("read_only", "enable", "alerts", "sticky"), interface_fields.boolean),
    "value": lambda value: isinstance(value, str | int | float),
    "acl": interface_fields.array,
    "creation_date": interface_fields.moment,
    "last_update": interface_fields.moment,
}


async def create_indicator(
    ada: Client, title: str = "Queue", type_: str = "counter", **more: Any
) -> Any:
    answer = await ada.post("/indicator?customer=acme", {"title": title, "type": type_, **more})
    assert answer.status == 200, answer.body
    return answer.json


def by_title(title: str, rest: str = "") -> str:
    return f"/indicator/title/{quote(title, safe='')}{rest}?customer=acme"


async def test_an_indicator_is_created_and_listed(ada: Client) -> None:
    """POST /indicator and GET /indicator: the record, and an array of all of them."""
    indicator = await create_indicator(
        ada, "Deploys", "text", state="normal", value="all fine", acl=[UMA]
    )
    assert interface_fields.missing(indicator, INDICATOR) == []
    assert (indicator["title"], indicator["type"], indicator["_type"]) == (
        "Deploys",
        "text",
        "TextIndicator",
    )
    assert (indicator["state"], indicator["value"], indicator["acl"]) == (
        "normal",
        "all fine",
        [UMA],
    )
    response = await ada.get("/indicator?customer=acme")
    assert (response.status, response.json) == (200, [indicator])
    assert (await ada.get("/acme/indicator")).body == response.body


async def test_a_new_indicator_has_the_documented_defaults(ada: Client) -> None:
    indicator = await create_indicator(ada)
    assert (indicator["enable"], indicator["acl"], indicator["severity"]) == (True, [], "HIGH")
    assert (indicator["alerts"], indicator["sticky"], indicator["state"]) == (True, False, "normal")
    assert (indicator["read_only"], indicator["customer_name"]) == (False, "acme")


@pytest.mark.parametrize(
    ("type_", "kind", "value"),
    [("text", "TextIndicator", ""), ("progress", "ProgressIndicator", 0)]
    + [("counter", "CounterIndicator", 1)],
)
async def test_each_type_starts_with_its_own_value(
    ada: Client, type_: str, kind: str, value: Any
) -> None:
    indicator = await create_indicator(ada, type_=type_)
    assert (indicator["_type"], indicator["value"]) == (kind, value)


async def test_title_and_type_are_required(ada: Client) -> None:
    for body, fields in (({}, ["title", "type"]), ({"title": "x"}, ["type"])):
        refused = await ada.post("/acme/indicator", body)
        assert refused.status == 400
        assert [fault["field"] for fault in refused.json["errors"]] == fields
    assert (await ada.get("/acme/indicator")).json == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "gauge"}, "type"),
        ({"state": "good"}, "state"),
        ({"state": "broken"}, "state"),
        ({"severity": "worst"}, "severity"),
        ({"title": ""}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "x" * 257}, "title"),
        ({"type": "text", "value": 5}, "value"),
        ({"type": "text", "value": "a\x00b"}, "value"),
        ({"type": "text", "value": "x" * 20_000}, "value"),
        ({"type": "progress", "value": "half"}, "value"),
        ({"type": "progress", "value": "1e400"}, "value"),
        ({"type": "progress", "value": True}, "value"),
        ({"type": "progress", "value": [1]}, "value"),
        ({"type": "counter", "value": "many"}, "value"),
        ({"type": "counter", "value": 2**53}, "value"),
        ({"type": "counter", "value": "nan"}, "value"),
        ({"ttl": 1}, "ttl"),
        ({"width": 0}, "width"),
        ({"enable": "perhaps"}, "enable"),
        ({"acl": ["nobody"]}, "users[0]"),
    ],
)
async def test_invalid_input_is_named_and_creates_nothing(
    ada: Client, body: dict[str, Any], field: str
) -> None:
    refused = await ada.post("/acme/indicator", {"title": "Queue", "type": "text", **body})
    assert refused.status == 400
    assert [fault["field"] for fault in refused.json["errors"]] == [field]
    assert (await ada.get("/acme/indicator")).json == []


async def test_a_number_may_come_as_a_string(ada: Client) -> None:
    indicator = await create_indicator(ada, type_="progress", value="62.5")
    assert indicator["value"] == 62.5


@pytest.mark.parametrize("value", [-3, 0, 0.5, 62.5, 100, 250, 1e300])
async def test_progress_takes_any_finite_number(ada: Client, value: float) -> None:
    indicator = await create_indicator(ada, type_="progress", value=value)
    assert indicator["value"] == value
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).json["value"] == value


async def test_the_severity_answers_in_upper_case(ada: Client) -> None:
    assert (await create_indicator(ada, "a", severity="low"))["severity"] == "LOW"
    assert (await create_indicator(ada, "b", severity="high"))["severity"] == "HIGH"
    assert (await create_indicator(ada, "c", severity="critical"))["severity"] == "CRITICAL"


@pytest.mark.parametrize("word", ["", "success"])
async def test_other_words_for_normal(ada: Client, word: str) -> None:
    indicator = await create_indicator(ada, "a", state="failure")
    changed = await ada.patch(f"/acme/indicator/{indicator['id']}", {"state": word})
    assert changed.json["state"] == "normal"
    refused = await ada.patch(f"/acme/indicator/{indicator['id']}", {"state": "fine"})
    assert refused.json["errors"][0]["message"] == "Must be one of failure, normal."


async def test_a_taken_title_is_refused(ada: Client, eve: Client) -> None:
    await create_indicator(ada, "Queue")
    refused = await ada.post("/acme/indicator", {"title": " Queue ", "type": "text"})
    assert (refused.status, refused.code) == (409, "title_taken")
    other = await create_indicator(ada, "Other")
    for body in ({"title": "Queue"}, {"title": "Queue", "type": "text"}):
        send = ada.patch if len(body) == 1 else ada.put
        refused = await send(f"/acme/indicator/{other['id']}", body)
        assert (refused.status, refused.code) == (409, "title_taken")
    theirs = await eve.post("/globex/indicator", {"title": "Queue", "type": "text"})
    assert theirs.status == 200


async def test_patch_takes_any_of_title_state_and_value(ada: Client) -> None:
    """PATCH /indicator/{indicator_id}: the updated indicator record."""
    indicator = await create_indicator(ada, type_="text", value="old", description="Kept.")
    target = f"/indicator/{indicator['id']}?customer=acme"
    for body in ({"title": "New"}, {"state": "failure"}, {"value": "new"}):
        changed = await ada.patch(target, body)
        assert changed.status == 200
        assert body.items() <= changed.json.items()
    record = (await ada.get(target)).json
    assert (record["title"], record["state"], record["value"]) == ("New", "failure", "new")
    assert record["description"] == "Kept."


async def test_patch_by_title(ada: Client) -> None:
    """PATCH /indicator/title/{urlencoded_title}."""
    title = "Disk of web-1 (50% full?) größer & #1"
    indicator = await create_indicator(ada, title, "progress")
    changed = await ada.patch(by_title(title), {"value": 51, "state": "failure"})
    assert changed.status == 200
    assert (changed.json["id"], changed.json["value"]) == (indicator["id"], 51)
    renamed = await ada.patch(by_title(title), {"title": "Disk"})
    assert renamed.json["title"] == "Disk"
    assert (await ada.patch(by_title(title), {"value": 1})).status == 404
    assert (await ada.patch(by_title("Disk"), {"value": 1})).status == 200


async def test_a_title_may_hold_slashes(ada: Client) -> None:
    title = "eu/web/increase"
    indicator = await create_indicator(ada, title)
    for target in (by_title(title), f"/acme/indicator/title/{quote(title, safe='')}"):
        assert (await ada.get(target)).json == indicator
    counted = await ada.patch(by_title(title, "/increase"))
    assert (counted.status, counted.json["value"]) == (200, 2)
    assert (await ada.delete(by_title(title))).status == 200
    assert (await ada.get("/acme/indicator")).json == []


@pytest.mark.parametrize("title", ["..", ".", "%", "%2F", "state", "a b", "ü", "🙂"])
async def test_any_title_can_be_used_in_a_path(ada: Client, title: str) -> None:
    indicator = await create_indicator(ada, title, "text")
    assert (await ada.get(by_title(title))).json == indicator


@pytest.mark.parametrize("raw", ["%00", "%0A", "x" * 300, "%20"])
async def test_an_invalid_title_is_not_found(ada: Client, raw: str) -> None:
    assert (await ada.get(f"/acme/indicator/title/{raw}")).status == 404
    assert (await ada.delete(f"/acme/indicator/title/{raw}")).status == 404
    assert (await ada.patch(f"/acme/indicator/title/{raw}/increase")).status == 404
    refused = await ada.put(f"/acme/indicator/title/{raw}", {"type": "text"})
    assert refused.status == 400


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [("increase", 1, 2), ("increase", -1, 0), ("increase", 2**53 - 1, 2**53 - 1)]
    + [("decrease", 2, 1), ("decrease", 1, 0), ("decrease", 0, 0), ("decrease", 0.5, 0)]
    + [("decrease", -2, -2), ("restart", 7, 1), ("restart", 0, 1)],
)
async def test_a_counter_counts(ada: Client, action: str, before: float, after: float) -> None:
    """PATCH /indicator/{indicator_id}/{action}, and the same by title."""
    indicator = await create_indicator(ada, value=before)
    counted = await ada.patch(f"/indicator/{indicator['id']}/{action}?customer=acme")
    assert (counted.status, counted.json["value"]) == (200, after)
    await ada.patch(f"/acme/indicator/{indicator['id']}", {"value": before})
    counted = await ada.patch(by_title("Queue", f"/{action}"))
    assert (counted.status, counted.json["value"]) == (200, after)
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).json == counted.json


@pytest.mark.parametrize("type_", ["text", "progress"])
async def test_only_counters_count(ada: Client, type_: str) -> None:
    indicator = await create_indicator(ada, type_=type_)
    for action in ("increase", "decrease", "restart"):
        for target in (
            f"/acme/indicator/{indicator['id']}/{action}",
            by_title("Queue", f"/{action}"),
        ):
            refused = await ada.patch(target)
            assert (refused.status, refused.code) == (400, "no_counter")
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).json == indicator


async def test_there_is_no_fourth_action(ada: Client) -> None:
    indicator = await create_indicator(ada)
    assert (await ada.patch(f"/acme/indicator/{indicator['id']}/double")).status == 404


async def test_a_source_pushes_state_and_value(ada: Client) -> None:
    indicator = await create_indicator(ada, type_="progress")
    target = f"/indicator/{indicator['id']}/state?customer=acme"
    pushed = await ada.patch(target, {"state": "failure", "value": 97})
    assert (pushed.status, pushed.json["state"], pushed.json["value"]) == (200, "failure", 97)
    # What scripts for TheEye send.
    pushed = await ada.patch(target, {"state": "success"})
    assert (pushed.json["state"], pushed.json["value"]) == ("normal", 97)
    refused = await ada.patch(target, {})
    assert (refused.status, refused.code) == (400, "nothing_given")
    assert (await ada.patch(target, {"state": "fine"})).status == 400


async def test_put_by_title_makes_and_replaces(ada: Client) -> None:
    """What clients of TheEye write with."""
    body = {"type": "text", "value": "one", "description": "First.", "tags": ["blue"]}
    first = await ada.put(by_title("Status"), {"title": "Status", **body})
    assert first.status == 200
    assert (first.json["title"], first.json["value"]) == ("Status", "one")
    second = await ada.put(by_title("Status"), {"type": "text", "value": "two"})
    assert (second.status, second.json["id"]) == (200, first.json["id"])
    assert (second.json["value"], second.json["description"]) == ("two", "")
    assert len((await ada.get("/acme/indicator")).json) == 1


async def test_put_by_title_refuses_another_title_and_no_type(ada: Client) -> None:
    refused = await ada.put(by_title("Status"), {"title": "Other", "type": "text"})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "title")
    refused = await ada.put(by_title("Status"), {"value": "x"})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "type")
    assert (await ada.get("/acme/indicator")).json == []


async def test_put_by_id_resets_fields_to_their_defaults(ada: Client) -> None:
    indicator = await create_indicator(
        ada, value=9, state="failure", severity="low", ttl=60_000, acl=[UMA]
    )
    changed = await ada.put(f"/indicator/{indicator['id']}?customer=acme", {"description": "New."})
    assert changed.status == 200
    record = changed.json
    assert (record["title"], record["type"], record["acl"]) == ("Queue", "counter", [UMA])
    assert (record["value"], record["state"], record["severity"]) == (1, "normal", "HIGH")
    assert (record["ttl"], record["description"]) == (None, "New.")


async def test_a_record_can_be_sent_back_as_it_was_shown(ada: Client) -> None:
    indicator = await create_indicator(
        ada, type_="progress", value=40, ttl=60_000, acl=[UMA], tags=["a"]
    )
    again = (await ada.put(f"/acme/indicator/{indicator['id']}", indicator)).json
    assert {**again, "version": 0} == {**indicator, "version": 0}


async def test_a_stale_edit_is_refused(ada: Client) -> None:
    indicator = await create_indicator(ada)
    target, old = f"/acme/indicator/{indicator['id']}", {"if-match": str(indicator["version"])}
    assert (await ada.patch(target, {"value": 5}, headers=old)).status == 200
    for send, path in ((ada.patch, target), (ada.put, target), (ada.put, by_title("Queue"))):
        refused = await send(path, {"value": 6}, headers=old)
        assert (refused.status, refused.code) == (412, "stale")
    assert (await ada.get(target)).json["value"] == 5


async def test_a_change_that_changes_nothing_keeps_the_version(ada: Client) -> None:
    indicator = await create_indicator(ada)
    assert (await ada.patch(f"/acme/indicator/{indicator['id']}", {})).json == indicator


async def test_a_change_of_type_resets_the_value(ada: Client) -> None:
    indicator = await create_indicator(ada, value=9)
    changed = await ada.patch(f"/acme/indicator/{indicator['id']}", {"type": "text"})
    assert (changed.json["_type"], changed.json["value"]) == ("TextIndicator", "")


async def test_delete_answers_with_the_record(ada: Client) -> None:
    indicator = await create_indicator(ada)
    gone = await ada.delete(f"/indicator/{indicator['id']}?customer=acme")
    assert (gone.status, gone.json) == (200, indicator)
    assert (await ada.delete(f"/acme/indicator/{indicator['id']}")).status == 404
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).status == 404
    await create_indicator(ada)


async def test_a_member_of_the_acl_dismisses_an_indicator(ada: Client, uma: Client) -> None:
    own_indicator = await create_indicator(ada, "mine", acl=[UMA])
    hidden = await create_indicator(ada, "hidden", acl=[VIC])
    assert (await uma.delete(f"/acme/indicator/{own_indicator['id']}")).status == 200
    assert (await uma.delete(f"/acme/indicator/{hidden['id']}")).status == 404
    assert [indicator["id"] for indicator in (await ada.get("/acme/indicator")).json] == [
        hidden["id"]
    ]


async def test_dismissing_needs_the_level_user_and_the_acl(world: World, ada: Client) -> None:
    indicator = await create_indicator(ada, acl=[VIC])
    target = f"/acme/indicator/{indicator['id']}"
    refused = await world.client("vic").delete(target)
    assert (refused.status, refused.code) == (403, "level")
    refused = await world.client("max").delete(target)
    assert (refused.status, refused.code) == (403, "may_not_dismiss")


async def test_a_read_only_indicator_is_not_dismissed(ada: Client, uma: Client) -> None:
    indicator = await create_indicator(ada, read_only=True, acl=[UMA])
    for who in (ada, uma):
        for target in (f"/acme/indicator/{indicator['id']}", by_title("Queue")):
            refused = await who.delete(target)
            assert (refused.status, refused.code) == (409, "read_only")
    await ada.patch(f"/acme/indicator/{indicator['id']}", {"read_only": False})
    assert (await uma.delete(by_title("Queue"))).status == 200


async def test_members_see_only_indicators_of_their_acl(
    world: World, ada: Client, vic: Client
) -> None:
    actual_indicator = await create_indicator(ada, "shown", acl=[VIC])
    hidden = await create_indicator(ada, "hidden")
    assert [indicator["id"] for indicator in (await vic.get("/acme/indicator")).json] == [
        actual_indicator["id"]
    ]
    assert (await vic.get(f"/acme/indicator/{actual_indicator['id']}")).json["acl"] == []
    for target in (f"/acme/indicator/{hidden['id']}", by_title("hidden")):
        assert (await vic.get(target)).status == 404
    for sub in ("badge.svg", "history"):
        assert (await vic.get(f"/acme/indicator/{hidden['id']}/{sub}")).status == 404
    assert len((await world.client("max").get("/acme/indicator")).json) == 2


WRITES = [
    ("POST", "/acme/indicator", {"title": "x", "type": "text"}),
    ("PUT", "/acme/indicator/{id}", {}),
    ("PUT", "/acme/indicator/title/Queue", {}),
    ("PATCH", "/acme/indicator/{id}", {"value": 2}),
    ("PATCH", "/acme/indicator/title/Queue", {"value": 2}),
    ("PATCH", "/acme/indicator/{id}/state", {"value": 2}),
    ("PATCH", "/acme/indicator/{id}/increase", {}),
    ("PATCH", "/acme/indicator/title/Queue/decrease", {}),
    ("POST", "/acme/indicator/{id}/public", {}),
    ("DELETE", "/acme/indicator/{id}/public", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
async def test_writing_needs_admin(
    world: World, ada: Client, method: str, path: str, body: dict[str, Any]
) -> None:
    indicator = await create_indicator(ada, acl=[UMA, VIC])
    for who in ("max", "uma", "vic", "web-1", ""):
        refused = await world.client(who).request(
            method, path.replace("{id}", indicator["id"]), body
        )
        assert refused.status == (401 if who == "" else 403), who
    assert (await ada.get("/acme/indicator")).json == [indicator]
    token = await world.client("token").request(method, path.replace("{id}", indicator["id"]), body)
    assert token.status in (200, 201)


async def test_another_organization_finds_nothing(ada: Client, eve: Client) -> None:
    indicator = await create_indicator(ada)
    requests = [(method, path, body) for method, path, body in WRITES if "{id}" in path]
    requests += [("GET", "/acme/indicator/{id}", {}), ("DELETE", "/acme/indicator/{id}", {})]
    requests += [("GET", f"/acme/indicator/{{id}}/{sub}", {}) for sub in ("history", "badge.svg")]
    for method, path, body in requests:
        items = []
        for indicator_id in (indicator["id"], MISSING):
            target = path.replace("{id}", indicator_id).replace("/acme", "/globex")
            answer = await eve.request(method, target, body)
            assert answer.status == 404, target
            items.append({**answer.json, "request_id": ""})
        assert items[0] == items[1]
    assert (await eve.get("/globex/indicator/title/Queue")).status == 404
    assert (await eve.get("/globex/indicator")).json == []
    assert (await ada.get("/acme/indicator")).json == [indicator]


async def test_the_acl_has_the_usual_four_routes(world: World, ada: Client, vic: Client) -> None:
    indicator = await create_indicator(ada)
    target = f"/acme/indicator/{indicator['id']}/acl"
    max_ = world.client("max")
    assert (await max_.put(target, {"users": [VIC]})).json["users"] == [VIC]
    assert (await vic.get(f"/acme/indicator/{indicator['id']}")).status == 200
    assert (await max_.delete(target)).json["users"] == []
    assert (await vic.get(f"/acme/indicator/{indicator['id']}")).status == 404


async def test_lists_can_be_narrowed(ada: Client) -> None:
    await create_indicator(ada, "a", "text", state="failure")
    await create_indicator(ada, "b", "progress")
    await create_indicator(ada, "c", "progress", acl=[UMA])

    async def titles(query: str) -> list[str]:
        response = await ada.get(f"/acme/indicator?{query}")
        return [record["title"] for record in response.json]

    assert await titles("where[state]=failure") == ["a"]
    assert await titles("where[_type]=ProgressIndicator&sort[title]=-1") == ["c", "b"]
    assert await titles(f"where[acl]={UMA}") == ["c"]
    assert await titles("limit=2") == ["a", "b"]
    assert (await ada.get("/acme/indicator?where[value]=1")).status == 400


async def test_an_indicator_is_stale_until_its_next_update(ada: Client, clock: ManualClock) -> None:
    indicator = await create_indicator(ada, ttl=60_000)
    target = f"/acme/indicator/{indicator['id']}"
    clock.move(59)
    assert (await ada.get(target)).json["stale"] is False
    clock.move(1)
    assert (await ada.get(target)).json["stale"] is True
    # A new name does not count as an update.
    assert (await ada.patch(target, {"title": "Other"})).json["stale"] is True
    assert (await ada.patch(f"{target}/increase")).json["stale"] is False
    clock.move(60)
    assert (await ada.patch(target, {"value": 2})).json["stale"] is False
    clock.move(60)
    assert (await ada.patch(target, {"ttl": None})).json["stale"] is False


async def test_values_of_an_indicator_are_stored_for_a_sparkline(
    ada: Client, clock: ManualClock
) -> None:
    indicator = await create_indicator(ada, type_="progress", value=10)
    target = f"/acme/indicator/{indicator['id']}"
    for value in (20, 30, 40):
        clock.move(10)
        await ada.patch(target, {"value": value, "state": "failure" if value == 40 else "normal"})
    response = await ada.get(f"{target}/history")
    assert response.status == 200
    assert [point["value"] for point in response.json] == [10, 20, 30, 40]
    assert [point["state"] for point in response.json][-2:] == ["normal", "failure"]
    assert all(interface_fields.moment(point["date"]) for point in response.json)
    since = response.json[2]["date"]
    assert [p["value"] for p in (await ada.get(f"{target}/history?since={since}")).json] == [30, 40]
    assert [p["value"] for p in (await ada.get(f"{target}/history?until={since}")).json] == [10, 20]
    assert [p["value"] for p in (await ada.get(f"{target}/history?points=2")).json] == [20, 40]


@pytest.mark.parametrize("query", ["points=0", "points=1001", "points=x", "since=noon"])
async def test_an_invalid_query_of_the_history_is_refused(ada: Client, query: str) -> None:
    indicator = await create_indicator(ada)
    assert (await ada.get(f"/acme/indicator/{indicator['id']}/history?{query}")).status == 400


def badge_text(answer: Response) -> str:
    assert (answer.status, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    xml.dom.minidom.parseString(answer.text)
    return answer.text


async def test_an_indicator_can_be_read_as_an_image(ada: Client) -> None:
    indicator = await create_indicator(ada, '<b>&"Disk"', "progress", value=73)
    text = badge_text(await ada.get(f"/acme/indicator/{indicator['id']}/badge.svg"))
    assert "73%" in text and "&lt;b&gt;&amp;" in text and "<b>" not in text


async def test_a_public_link_shows_the_picture_until_it_is_revoked(
    ada: Client, anonymous: Client
) -> None:
    indicator = await create_indicator(ada, type_="text", value="fine")
    target = f"/acme/indicator/{indicator['id']}/public"
    link = await ada.post(target)
    assert link.status == 201
    path = link.json["url"].removeprefix("http://belvedere.test")
    assert path == f"/-/badge/{link.json['token']}.svg"
    assert "fine" in badge_text(await anonymous.get(path))
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).json["public"] is True
    second = (await ada.post(target)).json["token"]
    assert (await anonymous.get(path)).status == 404
    assert "fine" in badge_text(await anonymous.get(f"/-/badge/{second}"))
    revoked = await ada.delete(target)
    assert (revoked.status, revoked.json["public"]) == (200, False)
    gone = await anonymous.get(f"/-/badge/{second}.svg")
    assert (gone.status, gone.code) == (404, "link_gone")
    assert (await ada.delete(target)).status == 200


async def test_a_link_is_deleted_with_its_indicator(ada: Client, anonymous: Client) -> None:
    indicator = await create_indicator(ada)
    token = (await ada.post(f"/acme/indicator/{indicator['id']}/public")).json["token"]
    await ada.delete(f"/acme/indicator/{indicator['id']}")
    assert (await anonymous.get(f"/-/badge/{token}.svg")).status == 404
    assert (await anonymous.get("/-/badge/nonsense.svg")).status == 404


async def test_changes_are_audited_but_pushes_are_not(ada: Client) -> None:
    indicator = await create_indicator(ada)
    target = f"/acme/indicator/{indicator['id']}"
    await ada.patch(target, {"value": 5, "state": "failure"})
    await ada.patch(f"{target}/increase")
    await ada.patch(target, {"title": "New"})
    await ada.post(f"{target}/public")
    await ada.delete(target)
    rows = (await ada.get(f"/api/audit?object_id={indicator['id']}")).json
    assert [row["action"].partition(".")[2] for row in reversed(rows)] == [
        "create",
        "change",
        "publish",
        "delete",
    ]
