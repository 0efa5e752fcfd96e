"""The incidents of a status page as an Atom feed (RFC 4287) and as RSS 2.0."""

import re
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256
from html import escape
from xml.etree import ElementTree as ET

from belvedere.statuspages.public_status import Status

MAX_ENTRIES = 50
ATOM = "http://www.w3.org/2005/Atom"
ATOM_TYPE = "application/atom+xml"
RSS_TYPE = "application/rss+xml"
# Characters that XML 1.0 cannot contain, not even escaped.
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_atom(page: Status, slug: str, base_url: str) -> bytes:
    """Posted updates and failures of monitors, newest first."""
    address, entries = _address(slug, base_url), _entries(page)
    feed = ET.Element("feed", xmlns=ATOM)
    _text(feed, "id", address)
    _text(feed, "title", page.title)
    _text(feed, "updated", entries[0][0] if entries else page.updated)
    ET.SubElement(feed, "link", rel="alternate", href=address)
    ET.SubElement(feed, "link", rel="self", href=f"{base_url}/-/status/{slug}/feed.atom")
    _text(ET.SubElement(feed, "author"), "name", page.title)
    for date, key, title, text in entries:
        entry = ET.SubElement(feed, "entry")
        _text(entry, "id", f"{address}#{key}")
        _text(entry, "title", title)
        _text(entry, "updated", date)
        ET.SubElement(entry, "link", rel="alternate", href=address)
        _text(entry, "content", text, type="text")
    return _document(feed)


def render_rss(page: Status, slug: str, base_url: str) -> bytes:
    """The same entries for readers that know only RSS."""
    address, entries = _address(slug, base_url), _entries(page)
    feed = ET.Element("rss", {"version": "2.0", "xmlns:atom": ATOM})
    channel = ET.SubElement(feed, "channel")
    _text(channel, "title", page.title)
    _text(channel, "link", address)
    _text(channel, "description", page.description or page.title)
    _text(channel, "lastBuildDate", _rfc_822(entries[0][0] if entries else page.updated))
    ET.SubElement(
        channel,
        "atom:link",
        rel="self",
        type=RSS_TYPE,
        href=f"{base_url}/-/status/{slug}/feed.rss",
    )
    for date, key, title, text in entries:
        item = ET.SubElement(channel, "item")
        _text(item, "title", title)
        _text(item, "link", address)
        _text(item, "guid", f"{address}#{key}", isPermaLink="false")
        _text(item, "pubDate", _rfc_822(date))
        # Readers show the description as HTML, and the text is plain text.
        _text(item, "description", escape(text).replace("\n", "<br>"))
    return _document(feed)


# Date, key, title, text.
_Entry = tuple[str, str, str, str]


def _address(slug: str, base_url: str) -> str:
    return f"{base_url}/ui/status/{slug}"


def _entries(page: Status) -> list[_Entry]:
    return sorted((*_posted(page), *_failures(page)), reverse=True)[:MAX_ENTRIES]


def _posted(page: Status) -> list[_Entry]:
    return [
        (
            update.date,
            f"{incident.id}-{len(incident.updates) - n}",
            f"{incident.title}: {update.state}",
            update.text,
        )
        for incident in page.posts
        for n, update in enumerate(incident.updates)
    ]


def _failures(page: Status) -> list[_Entry]:
    """A failure and its end are one entry, whose date changes when it ends."""
    entries = []
    for incident in page.incidents:
        key = sha256(f"{incident.name} {incident.started}".encode()).hexdigest()[:24]
        state = "resolved" if incident.ended else "failing"
        text = f"Started {incident.started}." + (
            f" Ended {incident.ended}." if incident.ended else ""
        )
        entries.append((incident.ended or incident.started, key, f"{incident.name}: {state}", text))
    return entries


def _text(parent: ET.Element, name: str, text: str, **attributes: str) -> None:
    ET.SubElement(parent, name, attributes).text = _INVALID.sub(" ", text)


def _rfc_822(date: str) -> str:
    return format_datetime(datetime.fromisoformat(date))


def _document(feed: ET.Element) -> bytes:
    document: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return document
