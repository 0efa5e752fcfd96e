"""Charts, html and files: indicators whose value is more than a line."""

import json
from typing import Any

import pytest

from contract.client import Client, Response
from contract.test_indicators import MISSING, UMA, VIC, badge_text, by_title, create_indicator
from contract.world import World
from manual_clock import ManualClock

CHART: dict[str, Any] = {
    "kind": "bar",
    "labels": ["Mon", "Tue"],
    "times": [],
    "unit": "orders",
    "series": [{"name": "shop", "values": [3, 4.5]}, {"name": "fair", "values": [None, 1]}],
}
# In Plotly's format, as scripts for TheEye send them.
BARS: dict[str, Any] = {"type": "bar", "data": [{"x": ["Mon", "Tue"], "y": [3, 7], "name": "shop"}]}
FIGURE: dict[str, Any] = {
    "data": [{"type": "pie", "labels": ["a", "b"], "values": [1, 2.5], "hole": 0.4}],
    "layout": {"title": {"text": "<b>Share</b>"}, "font": {"size": 10**18}},
    "config": {"responsive": True},
    "anything": [None, {"else": []}],
}
HTML = "<p>All <b>fine</b></p><script>canary()</script><img src=x onerror=canary()>"
CLEAN = "<p>All <b>fine</b></p><img>"
VALUES: list[tuple[str, str, Any, Any, Any]] = [
    ("chart", "ChartIndicator", CHART, CHART, 4.5),
    ("chart", "ChartIndicator", BARS, BARS, 7),
    ("chart", "ChartIndicator", FIGURE, FIGURE, 2.5),
    ("chart", "ChartIndicator", json.dumps(FIGURE), FIGURE, 2.5),
    ("html", "HTMLIndicator", HTML, CLEAN, "All fine"),
    ("file", "FileIndicator", "line 1\nline 2\n", "line 1\nline 2\n", "line 1\nline 2"),
]
KINDS = ("type_", "kind", "sent", "kept", "gist")


@pytest.mark.parametrize(KINDS, VALUES)
async def test_each_kind_of_indicator_stores_its_value(
    ada: Client, vic: Client, type_: str, kind: str, sent: Any, kept: Any, gist: Any
) -> None:
    """By every route that takes a value, visible to the members that the ACL names."""
    indicator = await create_indicator(ada, "Board", type_, value=sent, acl=[VIC])
    assert (indicator["_type"], indicator["value"], indicator["gist"]) == (kind, kept, gist)
    target = f"/acme/indicator/{indicator['id']}"
    record = (await vic.get(target)).json
    assert (record["value"], (await vic.get("/acme/indicator")).json[0]["value"]) == (kept, kept)
    (line,) = (await vic.get("/-/board/indicators?customer=acme")).json
    assert line["gist"] == gist
    for answer in (
        await ada.patch(target, {"value": sent}),
        await ada.put(target, {"value": sent}),
        await ada.patch(f"{target}/state", {"value": sent, "state": "failure"}),
        await ada.patch(by_title("Board"), {"value": sent}),
        await ada.put(by_title("Board"), {"type": type_, "value": sent}),
        await ada.put(by_title("Another"), {"type": type_, "value": sent}),
    ):
        assert (answer.status, answer.json["value"]) == (200, kept)
    assert "canary" not in (await ada.get("/acme/indicator")).text
    listed = (await ada.get(f"/acme/indicator?where[_type]={kind}")).json
    assert len(listed) == 2


@pytest.mark.parametrize(KINDS, VALUES)
async def test_a_new_indicator_is_empty_and_a_change_of_kind_resets_it(
    ada: Client, type_: str, kind: str, sent: Any, kept: Any, gist: Any
) -> None:
    fresh = await create_indicator(ada, "Board", type_)
    empty = {"series": [], "kind": "line", "labels": [], "times": [], "unit": ""}
    assert fresh["value"] == (empty if type_ == "chart" else "")
    target = f"/acme/indicator/{fresh['id']}"
    await ada.patch(target, {"value": sent})
    assert (await ada.put(target, {})).json["value"] == fresh["value"]
    assert (await ada.patch(target, {"type": "counter"})).json["value"] == 1
    assert (await ada.patch(target, {"type": type_, "value": sent})).json["value"] == kept
    refused = await ada.patch(f"{target}/increase")
    assert (refused.status, refused.code) == (400, "no_counter")


@pytest.mark.parametrize(KINDS, VALUES)
async def test_history_and_badge_have_its_gist(
    ada: Client, clock: ManualClock, type_: str, kind: str, sent: Any, kept: Any, gist: Any
) -> None:
    indicator = await create_indicator(ada, "Board", type_, value=sent, ttl=60_000)
    target = f"/acme/indicator/{indicator['id']}"
    (point,) = (await ada.get(f"{target}/history")).json
    assert point["value"] == gist
    picture = badge_text(await ada.get(f"{target}/badge.svg"))
    assert " ".join(str(gist).split()) in picture and "canary" not in picture
    clock.move(61)
    assert (await ada.get(target)).json["stale"] is True
    rows = await ada.get(f"/api/audit?object_id={indicator['id']}")
    assert "<b>" not in rows.text


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("chart", 5),
        ("chart", []),
        ("chart", "half"),
        ("chart", {}),
        ("chart", {"series": 5}),
        ("chart", {"series": [], "more": 1}),
        ("chart", {"series": [{"name": "a", "values": [1, "x"]}]}),
        ("chart", {**CHART, "kind": "pie"}),
        ("chart", {**CHART, "labels": ["one"]}),
        ("chart", {**CHART, "data": []}),
        ("chart", {"data": {}}),
        ("chart", {"data": 5, "layout": {}}),
        ("chart", {"layout": {}}),
        ("chart", {"data": ["x" * 70_000]}),
        ("chart", {"data": ["\u00e9" * 33_000]}),
        ("text", BARS),
        ("html", 5),
        ("html", CHART),
        ("html", "x" * 33_000),
        ("html", "<div>" * 300),
        ("file", 5),
        ("file", CHART),
        ("file", "x" * 70_000),
        ("file", "a\x00b"),
        ("file", MISSING),
        ("text", CHART),
        ("counter", CHART),
        ("progress", CHART),
    ],
)
async def test_an_invalid_value_is_reported_and_nothing_is_created(
    ada: Client, type_: str, value: Any
) -> None:
    refused = await ada.post("/acme/indicator", {"title": "Board", "type": type_, "value": value})
    assert refused.status == 400
    assert refused.json["errors"][0]["field"].startswith("value"), refused.json
    assert (await ada.get("/acme/indicator")).json == []
    indicator = await create_indicator(ada, "Board", type_)
    again = await ada.patch(f"/acme/indicator/{indicator['id']}", {"value": value})
    assert again.status == 400
    assert (await ada.get(f"/acme/indicator/{indicator['id']}")).json == indicator


async def test_a_number_beyond_all_others_is_answered(ada: Client) -> None:
    value = {"series": [{"name": "a", "values": [10**30, 2**64]}]}
    indicator = await create_indicator(ada, "Board", "chart", value=value)
    assert indicator["value"]["series"][0]["values"] == [1e30, 2.0**64]


@pytest.mark.parametrize(
    ("figure", "gist"),
    [
        ({"data": []}, ""),
        ({"data": [1, 2, None]}, 2),
        ({"type": "line", "data": [1, 2, 3]}, 3),
        ({"data": [{"y": [1, None]}]}, 1),
        ({"data": [{"y": [1, 10**40, "x", True, {"a": 1}]}]}, 1),
        ({"data": [{"orientation": "h", "x": [5], "y": ["a"]}]}, 5),
        ({"data": [{"y": {"dtype": "f8", "bdata": "AAAA"}}, {"y": [2]}]}, ""),
        ({"data": [{"type": "heatmap", "z": [[1]]}]}, ""),
        ({"data": ["\0", "\U0001f600", 1e300, -0.0]}, ""),
    ],
)
async def test_a_figure_is_stored_as_received(ada: Client, figure: Any, gist: Any) -> None:
    record = await create_indicator(ada, "Board", "chart", value=figure)
    target = f"/acme/indicator/{record['id']}"
    assert (record["value"], record["gist"]) == (figure, gist)
    assert (await ada.get(target)).json == record
    (line,) = (await ada.get("/-/board/indicators?customer=acme")).json
    assert (line["value"], line["gist"]) == (figure, gist)
    # Back to a chart of our own format.
    assert (await ada.patch(target, {"value": CHART})).json["value"] == CHART


# Files


def read_download(answer: Response) -> tuple[str, bytes]:
    assert (answer.status, answer.headers["content-type"]) == (200, "application/octet-stream")
    way, _, name = answer.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert way == "attachment"
    return name, answer.body


async def test_a_text_is_shown_and_downloaded_like_a_file(ada: Client) -> None:
    indicator = await create_indicator(ada, "Report: a/b", "file", value="ñandú\n")
    target = f"/acme/indicator/{indicator['id']}/file"
    assert (await ada.get(target)).json == {
        "filename": "Report_ a_b.txt",
        "size": 8,
        "is_text": True,
        "text": "ñandú\n",
        "cut": False,
    }
    assert read_download(await ada.get(f"{target}/download")) == (
        "Report_%20a_b.txt",
        "ñandú\n".encode(),
    )


async def store_file(ada: Client, content: str, name: str = "report.txt") -> str:
    answer = await ada.post("/acme/file", {"filename": name, "source": content})
    assert answer.status == 200, answer.body
    file_id: str = answer.json["id"]
    return file_id


async def test_a_stored_file_is_shown_as_it_is_now(
    ada: Client, uma: Client, vic: Client, eve: Client
) -> None:
    """Everyone who may see the tile may read the file, which otherwise requires a manager."""
    file_id = await store_file(ada, "one")
    indicator = await create_indicator(ada, "Report", "file", value=file_id, acl=[VIC])
    assert (indicator["value"], indicator["gist"]) == (file_id, "")
    target = f"/acme/indicator/{indicator['id']}/file"
    assert (await vic.get(target)).json["text"] == "one"
    assert read_download(await vic.get(f"{target}/download")) == ("report.txt", b"one")
    changed = await ada.put(f"/acme/file/{file_id}", {"source": "x" * 8_191 + "ñ"})
    assert changed.status == 200
    cut = (await vic.get(target)).json
    assert (cut["text"], cut["cut"], cut["size"]) == ("x" * 8_191, True, 8_193)
    for other in (uma, eve):
        assert (await other.get(target)).status in (403, 404)
        assert (await other.get(f"{target}/download")).status in (403, 404)
    assert (await vic.get(f"/acme/file/{file_id}/download")).status == 403


async def test_binary_files_are_only_downloaded(ada: Client) -> None:
    answer = await ada.post("/acme/file", {"filename": "a.bin", "data": "AP8B"})
    indicator = await create_indicator(ada, "Bin", "file", value=answer.json["id"])
    view = (await ada.get(f"/acme/indicator/{indicator['id']}/file")).json
    assert (view["is_text"], view["text"], view["size"]) == (False, "", 3)


async def test_a_file_that_is_shown_cannot_be_deleted(ada: Client) -> None:
    file_id = await store_file(ada, "one")
    indicator = await create_indicator(ada, "Report", "file", value=file_id)
    refused = await ada.delete(f"/acme/file/{file_id}")
    assert (refused.status, refused.code) == (409, "file_in_use")
    assert "Report" in refused.json["message"]
    await ada.delete(f"/acme/indicator/{indicator['id']}")
    assert (await ada.delete(f"/acme/file/{file_id}")).status == 200


async def test_another_organizations_file_is_no_file(
    world: World, ada: Client, eve: Client
) -> None:
    answer = await eve.post("/globex/file", {"filename": "a.txt", "source": "theirs"})
    assert answer.status == 200, answer.body
    refused = await ada.post(
        "/acme/indicator", {"title": "T", "type": "file", "value": answer.json["id"]}
    )
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "value")


async def test_only_a_file_indicator_has_a_file_route(ada: Client, uma: Client) -> None:
    indicator = await create_indicator(ada, acl=[UMA])
    refused = await uma.get(f"/acme/indicator/{indicator['id']}/file")
    assert (refused.status, refused.code) == (400, "no_file")
    assert (await uma.get(f"/acme/indicator/{MISSING}/file")).status == 404


async def test_events_leave_large_values_out(world: World, ada: Client) -> None:
    await create_indicator(ada, "Board", "html", value="<b>canary-in-a-tile</b>")
    items = world.runtime.db.write_blocking(
        lambda tx: tx.rows("select data from events where kind = 'indicator.created'")
    )
    assert len(items) == 1 and "canary-in-a-tile" not in str(items)
