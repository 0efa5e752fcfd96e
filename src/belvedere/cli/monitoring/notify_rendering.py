"""Channels, rules, messages and the inbox as text for people."""

from belvedere.cli.framework import rendering, time_words
from belvedere.cli.framework.command import Record


def channels(records: list[Record]) -> None:
    rendering.table(
        ("id", "state", "channel*", "service", "address"),
        (
            (
                channel["id"],
                "active" if channel["enable"] else "disabled",
                channel["name"],
                channel["service"],
                channel["url"],
            )
            for channel in records
        ),
        "No channels yet. Admins create one with: belvedere notify add NAME ADDRESS",
    )


def rules(records: list[Record]) -> None:
    rendering.table(
        ("id", "state", "rule*", "events*", "minimum severity", "channels", "quiet hours"),
        (
            (
                rule["id"],
                "active" if rule["enable"] else "disabled",
                rule["name"],
                ", ".join(rule["kinds"]) or "alerts",
                rule["severity"],
                len(rule["channels"]),
                _quiet(rule["quiet"]),
            )
            for rule in records
        ),
        "No rules yet. Admins create one with: belvedere notify rule-add NAME --channel CHANNEL",
    )


def rule(record: Record) -> None:
    rendering.fields(
        (
            ("id", record["id"]),
            ("rule", record["name"]),
            ("state", "active" if record["enable"] else "disabled"),
            ("kinds", record["kinds"] or "alerts"),
            ("objects", record["objects"] or "any"),
            ("states", record["states"] or "any"),
            ("tags", record["tags"] or "any"),
            ("severity", f"{record['severity']} and above"),
            ("channels", record["channels"]),
            ("group", f"{record['group']} s"),
            ("quiet", _quiet(record["quiet"])),
            ("version", record["version"]),
        )
    )


def _quiet(hours: Record | None) -> str:
    return "" if hours is None else f"{hours['from']}-{hours['to']} {hours['zone']}"


def messages(records: list[Record]) -> None:
    rendering.table(
        ("id", "when", "state", "event*", "attempts", "last error"),
        (
            (
                message["id"],
                time_words.local(message["creation_date"]),
                message["state"],
                _title(message),
                message["attempts"],
                _fault(message),
            )
            for message in records
        ),
        "No messages.",
    )


def message(record: Record) -> None:
    rendering.fields(
        (
            ("id", record["id"]),
            ("state", record["state"]),
            ("channel", record["channel_id"]),
            ("rule", record["rule_id"]),
            ("recipient", record["recipient"]),
            ("severity", record["severity"]),
            ("created", time_words.when(record["creation_date"])),
            ("sent", time_words.when(record["sent"])),
            ("next attempt", time_words.when(record["due"])),
            *(("event", entry["title"]) for entry in record["events"]),
            *(
                ("attempt", f"{time_words.local(entry['date'])} {entry['fault'] or 'accepted'}")
                for entry in record["tries"]
            ),
        )
    )


def outcome(message: Record) -> None:
    """The result of a test message."""
    if message["state"] == "sent":
        print("The test message was sent: the service accepted it.")
    else:
        print(f"The test message was not sent: {_fault(message)}")
        if hint := message["tries"][-1].get("hint") if message["tries"] else "":
            print(hint)


def _title(message: Record) -> str:
    titles = [event["title"] for event in message["events"]]
    others = len(titles) - 1 + message["more"]
    return (
        f"{titles[0]} (+{others})" if others > 0 else titles[0] if titles else message["recipient"]
    )


def _fault(message: Record) -> str:
    return message["tries"][-1]["fault"] if message["tries"] else ""


def inbox(notifications: list[Record]) -> None:
    rendering.table(
        ("id", "when", "severity", "title*", "read"),
        (
            (
                notification["id"],
                time_words.local(notification["creation_date"]),
                notification["severity"],
                notification["title"],
                "yes" if notification["read"] else "",
            )
            for notification in notifications
        ),
        "No unread notifications.",
    )


def inbox_preferences(preferences: Record) -> None:
    rendering.table(
        ("kind", "in inbox", "description*"),
        (
            (kind, "no" if kind in preferences["muted"] else "yes", description)
            for kind, description in preferences["kinds"].items()
        ),
    )
