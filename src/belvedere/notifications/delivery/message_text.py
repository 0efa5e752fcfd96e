"""Notices as the text of a message, and as what our own webhooks post. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.notifications.model import Notice

MAX_TITLE = 200


def one_line(text: str, most: int = MAX_TITLE) -> str:
    """Whatever people called their things, without line breaks and other controls."""
    found = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return found if len(found) <= most else found[: most - 1] + "…"


def title(customer_name: str, notices: Sequence[Notice], more: int = 0) -> str:
    count = len(notices) + more
    said = notices[0].title if count == 1 else f"{count} events: {notices[0].title}, …"
    return one_line(f"[{customer_name}] {said}")


def text(notices: Sequence[Notice], more: int = 0) -> str:
    if len(notices) == 1 and not more:
        return "\n".join(filter(None, _lines(notices[0])))
    listed = ["\n  ".join(filter(None, _lines(one))) for one in notices]
    if more:
        listed.append(f"and {more} more")
    return "\n".join(f"- {one}" for one in listed)


def _lines(notice: Notice) -> tuple[str, ...]:
    when = iso(notice.at).replace("T", " ")[:19] + " UTC"
    head = f"{notice.title} ({notice.severity.lower()}, {when})"
    return head, one_line(notice.text, 1_000), notice.link


def payload(
    message_id: str,
    customer_name: str,
    title: str,
    severity: str,
    notices: Sequence[Notice],
    more: int,
) -> str:
    """The body of a signed call: the same at every try."""
    told: dict[str, Any] = {
        "id": message_id,
        "customer": customer_name,
        "title": title,
        "severity": severity,
        "events": [_event(notice) for notice in notices],
        "more": more,
    }
    return msgspec.json.encode(told).decode()


def _event(notice: Notice) -> dict[str, Any]:
    return {
        "kind": notice.kind,
        "object": notice.object,
        "object_id": notice.object_id,
        "title": notice.title,
        "severity": notice.severity,
        "state": notice.state,
        "message": notice.text,
        "date": iso(notice.at),
        "link": notice.link,
    }


def test_notice(channel_id: str, channel_name: str, now: Millis) -> Notice:
    return Notice(
        "channel.test",
        "channel",
        channel_id,
        f"A test of the channel {channel_name}",
        now,
        text="Messages arrive here.",
    )
