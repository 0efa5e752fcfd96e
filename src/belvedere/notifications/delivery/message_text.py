"""The text of a message, and the JSON that webhook channels post. Pure."""

import re
from collections.abc import Sequence

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.notifications.model import Notice

MAX_TITLE = 200


def one_line(text: str, most: int = MAX_TITLE) -> str:
    """The text without line breaks and other control characters, at most `most` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def title(customer_name: str, notices: Sequence[Notice], more: int = 0) -> str:
    count = len(notices) + more
    summary = notices[0].title if count == 1 else f"{count} events: {notices[0].title}, …"
    return one_line(f"[{customer_name}] {summary}")


def text(notices: Sequence[Notice], more: int = 0) -> str:
    if len(notices) == 1 and not more:
        return "\n".join(filter(None, _lines(notices[0])))
    items = ["\n  ".join(filter(None, _lines(notice))) for notice in notices]
    if more:
        items.append(f"and {more} more")
    return "\n".join(f"- {item}" for item in items)


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
    """The body of a signed call, identical at every attempt."""
    fields = {
        "id": message_id,
        "customer": customer_name,
        "title": title,
        "severity": severity,
        "events": [_event(notice) for notice in notices],
        "more": more,
    }
    return msgspec.json.encode(fields).decode()


def _event(notice: Notice) -> dict[str, str]:
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
        f"Test message for the channel {channel_name}",
        now,
        text="This channel works.",
    )


# What a person can change so that a failed message is delivered, by a pattern of the fault; the
# first match counts.
HINTS: tuple[tuple[str, str], ...] = (
    (r"BELVEDERE_MAIL", "Set BELVEDERE_MAIL on the server, and restart it."),
    (r"certificate", "Check the receiver's certificate, or use an address that has a valid one."),
    (
        r"resol(ve|ution)|Name or service not known|No address associated",
        "Check the host name in the address.",
    ),
    (
        r"email.*(STARTTLS|WRONG_VERSION_NUMBER|unexpectedly closed|AUTH extension not supp)",
        "Choose the encryption and port that the mail server offers: STARTTLS (usually 587), "
        "TLS (465) or none (25).",
    ),
    (
        r"email.*: 5(30|34|35)\b",
        "Check user name and password of the mail account. Some services need an app password.",
    ),
    (
        r"email.*\b55[0-4]\b",
        "Check sender and recipients: the mail server must be allowed to send for this sender.",
    ),
    (
        r"email.*([Rr]efused|[Tt]imed out)",
        "Check host and port of the mail server, and that this server may connect to them.",
    ),
    (
        r"private|loopback|(inner|internal) network|not allowed",
        "Add the receiver's network to BELVEDERE_INNER_NETWORKS on the server.",
    ),
    (
        r"\b40[13]\b|nauthorized|orbidden|uthenticat|invalid.{0,20}(token|key)",
        "Check the token, key, user name or password in the address.",
    ),
    (r"\b4(04|10)\b|not found", "Check the path, topic, chat or webhook id in the address."),
    (r"\b429\b|rate limit", "The service limits the number of messages. Try again later."),
    (r"\b5\d\d\b", "The receiver has an error of its own. Look at its logs, then test again."),
    (
        r"in time|longer than|[Rr]efused|could not be called|onnection",
        "Check host and port in the address, and that this server may connect to them.",
    ),
)
OTHER = "Check the address of the channel. The server's log may have details."


def hint_for(fault: str) -> str:
    """The setting to look at; empty if there is no fault."""
    if not fault:
        return ""
    return next((hint for pattern, hint in HINTS if re.search(pattern, fault)), OTHER)
