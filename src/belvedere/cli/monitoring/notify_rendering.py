"""How channels, rules, messages and the inbox look on a screen."""

from typing import Any

from belvedere.cli.framework import rendering, time_words


def channels(found: Any) -> None:
    rendering.table(
        ("id", "state", "channel*", "service", "address"),
        (
            (
                each["id"],
                "active" if each["enable"] else "disabled",
                each["name"],
                each["service"],
                each["url"],
            )
            for each in found
        ),
        "No channel yet. Admins make one with: belvedere notify add NAME ADDRESS",
    )


def rules(found: Any) -> None:
    rendering.table(
        ("id", "state", "rule*", "tells", "from", "channels", "quiet"),
        (
            (
                each["id"],
                "active" if each["enable"] else "disabled",
                each["name"],
                ", ".join(each["kinds"]) or "alerts",
                each["severity"],
                len(each["channels"]),
                _quiet(each["quiet"]),
            )
            for each in found
        ),
        "No rule yet. Admins make one with: belvedere notify rule-add NAME --channel CHANNEL",
    )


def rule(found: Any) -> None:
    rendering.fields(
        (
            ("id", found["id"]),
            ("rule", found["name"]),
            ("state", "active" if found["enable"] else "disabled"),
            ("kinds", found["kinds"] or "alerts"),
            ("objects", found["objects"] or "any"),
            ("states", found["states"] or "any"),
            ("tags", found["tags"] or "any"),
            ("severity", f"{found['severity']} and above"),
            ("channels", found["channels"]),
            ("group", f"{found['group']} s"),
            ("quiet", _quiet(found["quiet"])),
            ("version", found["version"]),
        )
    )


def _quiet(hours: dict[str, Any] | None) -> str:
    return "" if hours is None else f"{hours['from']}-{hours['to']} {hours['zone']}"


def messages(found: Any) -> None:
    rendering.table(
        ("id", "when", "state", "what*", "tries", "last fault"),
        (
            (
                each["id"],
                time_words.local(each["creation_date"]),
                each["state"],
                _what(each),
                each["attempts"],
                _fault(each),
            )
            for each in found
        ),
        "No message.",
    )


def message(found: Any) -> None:
    rendering.fields(
        (
            ("id", found["id"]),
            ("state", found["state"]),
            ("channel", found["channel_id"]),
            ("rule", found["rule_id"]),
            ("recipient", found["recipient"]),
            ("severity", found["severity"]),
            ("made", time_words.when(found["creation_date"])),
            ("sent", time_words.when(found["sent"])),
            ("next try", time_words.when(found["due"])),
            *(("event", each["title"]) for each in found["events"]),
            *(
                ("try", f"{time_words.local(each['date'])} {each['fault'] or 'taken'}")
                for each in found["tries"]
            ),
        )
    )


def outcome(found: Any) -> None:
    """What came of a test."""
    if found["state"] == "sent":
        print("The message was taken.")
    else:
        print(f"It was not taken: {_fault(found)}")


def _what(found: Any) -> str:
    told = [each["title"] for each in found["events"]]
    rest = len(told) - 1 + found["more"]
    return f"{told[0]} (+{rest})" if rest > 0 else told[0] if told else found["recipient"]


def _fault(found: Any) -> str:
    return found["tries"][-1]["fault"] if found["tries"] else ""


def inbox(found: Any) -> None:
    rendering.table(
        ("id", "when", "severity", "title*", "read"),
        (
            (
                each["id"],
                time_words.local(each["creation_date"]),
                each["severity"],
                each["title"],
                "yes" if each["read"] else "",
            )
            for each in found
        ),
        "Nothing waits for you.",
    )


def wishes(found: Any) -> None:
    rendering.table(
        ("kind", "comes", "what*"),
        (
            (kind, "no" if kind in found["muted"] else "yes", what)
            for kind, what in found["kinds"].items()
        ),
    )
