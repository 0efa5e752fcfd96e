"""Incidents that people post, the feed and the logo of a status page."""

import base64
import struct
import zlib
from email.utils import parsedate_to_datetime
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from belvedere.db import Tx
from belvedere.rest.bodies import images
from belvedere.statuspages import logo, posts
from contract.client import Client
from contract.fixtures_all_kinds import LOGO
from contract.world import World
from manual_clock import ManualClock

ATOM = "{http://www.w3.org/2005/Atom}"
PAGE = "/-/status/acme-page"


async def new_page(ada: Client) -> str:
    page = await ada.post("/statuspage", {"title": "Acme", "slug": "acme-page"})
    return f"/statuspage/{page.json['id']}"


async def post(ada: Client, page: str, **fields: Any) -> dict[str, Any]:
    body = {"title": "Shop is slow", "text": "We are looking into it.", **fields}
    reply = await ada.post(f"{page}/incident", body)
    assert reply.status == 201, reply.body
    record: dict[str, Any] = reply.json
    return record


async def test_an_incident_is_posted_updated_and_resolved(
    ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    page = await new_page(ada)
    incident = await post(ada, page, started="2020-01-01T00:00:00Z")
    (public,) = (await anonymous.get(PAGE)).json["posts"]
    assert public == incident and public["ended"] is None
    assert (await anonymous.get(PAGE)).json["state"] == "failure"
    clock.move(60)
    path = f"{page}/incident/{incident['id']}/update"
    reply = await ada.post(path, {"state": "resolved", "text": "Fixed."})
    assert reply.status == 200 and reply.json["ended"] is not None
    clock.move(6)
    status = (await anonymous.get(PAGE)).json
    (public,) = status["posts"]
    assert status["state"] == "unknown" and public["state"] == "resolved"
    assert [update["text"] for update in public["updates"]] == ["Fixed.", "We are looking into it."]
    assert public["started"] == "2020-01-01T00:00:00.000Z"
    assert (await ada.post(path, {"text": "It is back."})).json["ended"] is None
    page_id = page.rpartition("/")[2]
    actions = [row["action"] for row in (await ada.get(f"/api/audit?object_id={page_id}")).json]
    kinds = ["incident_update", "incident_resolve", "incident_post", "create"]
    assert actions == [f"statuspage.{kind}" for kind in kinds]


async def test_a_notice_does_not_change_the_state(ada: Client, anonymous: Client) -> None:
    page = await new_page(ada)
    await post(ada, page, impact="notice")
    assert (await anonymous.get(PAGE)).json["state"] == "unknown"


async def test_old_resolved_incidents_leave_the_public_page(
    ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    page = await new_page(ada)
    await post(ada, page, state="resolved")
    await post(ada, page, title="Still open")
    assert len((await ada.get(f"{page}/incident")).json) == 2
    clock.move(91 * 86_400)
    incidents = (await anonymous.get(PAGE)).json["posts"]
    assert [incident["title"] for incident in incidents] == ["Still open"]


async def test_incidents_are_limited(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await new_page(ada)
    incident = await post(ada, page)
    monkeypatch.setattr(posts, "MAX_INCIDENTS", 1)
    monkeypatch.setattr(posts, "MAX_UPDATES", 1)
    refused = await ada.post(f"{page}/incident", {"title": "x", "text": "x"})
    assert refused.code == "too_many_incidents"
    path = f"{page}/incident/{incident['id']}"
    assert (await ada.post(f"{path}/update", {"text": "x"})).code == "too_many_updates"
    manager = world.client("max")
    assert (await manager.post(f"/acme{path}/update", {"text": "x"})).code == "level"
    assert (await ada.delete(path)).status == 200
    assert (await ada.delete(path)).code == "incident_not_found"


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"text": " "},
        {"text": "x" * 4_001},
        {"state": "over"},
        {"impact": "huge"},
        {"started": "soon"},
        {"started": "2999-01-01T00:00:00Z"},
        {"more": 1},
    ],
)
async def test_an_invalid_incident_is_refused(ada: Client, wrong: dict[str, Any]) -> None:
    page = await new_page(ada)
    body = {"title": "x", "text": "x", **wrong}
    assert (await ada.post(f"{page}/incident", body)).code == "invalid_body"


async def test_the_feed_is_valid_xml(ada: Client, anonymous: Client) -> None:
    page = await new_page(ada)
    await post(ada, page, title="<b>&", text="]]> \u0001 <script>alert(1)</script>")
    reply = await anonymous.get(f"{PAGE}/feed.atom")
    assert reply.headers["content-type"].startswith("application/atom+xml")
    feed = ET.fromstring(reply.text)
    assert [feed.findtext(f"{ATOM}{name}") for name in ("id", "title")] == [
        "http://belvedere.test/ui/status/acme-page",
        "Acme",
    ]
    (entry,) = feed.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == "<b>&: investigating"
    assert entry.findtext(f"{ATOM}content") == "]]>   <script>alert(1)</script>"
    assert (await anonymous.get("/-/status/missing/feed.atom")).status == 404


async def test_the_feed_exists_as_rss(ada: Client, anonymous: Client) -> None:
    page = await new_page(ada)
    await post(ada, page, title="<b>&", text="One\n<script>alert(1)</script>")
    reply = await anonymous.get(f"{PAGE}/feed.rss")
    assert reply.headers["content-type"].startswith("application/rss+xml")
    feed = ET.fromstring(reply.text)
    assert (feed.tag, feed.get("version")) == ("rss", "2.0")
    assert feed.findtext("channel/link") == "http://belvedere.test/ui/status/acme-page"
    assert feed.findtext("channel/title") == "Acme"
    assert feed.findtext("channel/description")
    (item,) = feed.findall("channel/item")
    assert item.findtext("title") == "<b>&: investigating"
    # Readers show it as HTML: the posted text is plain text.
    assert item.findtext("description") == "One<br>&lt;script&gt;alert(1)&lt;/script&gt;"
    assert parsedate_to_datetime(item.findtext("pubDate") or "").tzinfo is not None
    assert (await anonymous.get("/-/status/missing/feed.rss")).status == 404


async def test_a_page_has_a_logo(ada: Client, anonymous: Client) -> None:
    page = await new_page(ada)
    assert (await anonymous.get(f"{PAGE}/logo")).code == "logo_not_found"
    reply = await ada.put(f"{page}/logo", {"content": LOGO})
    assert reply.status == 200 and reply.json["media_type"] == "image/png"
    picture = await anonymous.get(f"{PAGE}/logo")
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert picture.body == base64.b64decode(LOGO)
    assert (await anonymous.get(PAGE)).json["logo"] == reply.json["sha256"]
    assert (await ada.delete(f"{page}/logo")).status == 200
    assert (await anonymous.get(f"{PAGE}/logo")).status == 404


async def test_everything_is_deleted_with_the_page(world: World, ada: Client) -> None:
    page = await new_page(ada)
    await post(ada, page)
    await ada.put(f"{page}/logo", {"content": LOGO})
    assert (await ada.delete(page)).status == 200

    def count(tx: Tx) -> int:
        tables = ("statuspage_incidents", "statuspage_logos")
        return sum(tx.value(f"select count(*) from {table}") for table in tables)

    assert await world.runtime.db.read(count) == 0


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 5)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00?\x00"
    b"\x12\xff\xd9"
)
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0\x2f\x1f\xc0\x03\x00" + b"\0" * 9


def test_images_are_recognised_by_their_structure() -> None:
    assert images.media_type(png(20, 10)) == "image/png"
    assert images.media_type(JPEG) == "image/jpeg"
    webp = WEBP[:4] + struct.pack("<I", len(WEBP) - 8) + WEBP[8:]
    assert images.media_type(webp) == "image/webp"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"GIF89a" + b"\0" * 50,
        png(20, 10)[:-6],
        png(20, 10) + b"<script>alert(1)</script>",
        png(20, 10).replace(b"IDAT", b"IDAX"),
        png(2_001, 10),
        png(0, 10),
        JPEG[:-2],
        JPEG + b"<script>",
        JPEG[:2] + b"\xff\xd9",
        b"RIFF\xff\0\0\0WEBPVP8L" + b"\0" * 20,
        b"RIFF\x04\0\0\0WEBP",
    ],
)
def test_a_file_that_is_no_image_is_refused(content: bytes) -> None:
    with pytest.raises(images.NotAnImage):
        images.media_type(content)


async def test_a_large_or_wrong_logo_is_refused(ada: Client) -> None:
    page = await new_page(ada)
    large = base64.b64encode(b"\x89PNG" + b"\0" * logo.MAX_LOGO).decode()
    for content in (large, "*", base64.b64encode(b"<svg/>").decode()):
        reply = await ada.put(f"{page}/logo", {"content": content})
        assert reply.code == "invalid_body", reply.body
    assert (await ada.put(f"{page}/logo", {"content": "A" * 400_000})).status == 413
