"""The incidents of a status page as an Atom feed (RFC 4287)."""

import re
from hashlib import sha256
from xml.etree import ElementTree as ET

from belvedere.statuspages.public_status import Status

MAX_ENTRIES = 50
ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
# Characters that XML 1.0 cannot contain, not even escaped.
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(page: Status, slug: str, base_url: str) -> bytes:
    """Posted updates and failures of monitors, newest first."""
    address = f"{base_url}/ui/status/{slug}"
    entries = sorted((*_posted(page), *_failures(page)), reverse=True)[:MAX_ENTRIES]
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
    document: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return document


# Date, key, title, text.
_Entry = tuple[str, str, str, str]


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
