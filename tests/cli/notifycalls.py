"""Requests of `belvedere notify`; a part of the table in test_calls.py."""

from typing import Any

CHANNEL_ID, RULE_ID = "65a000000000000000000201", "65a000000000000000000202"
MESSAGE_ID, NOTIFICATION_ID = "65a000000000000000000203", "65a000000000000000000204"
DATE = "2026-03-01T10:00:00.000Z"
CHANNEL = {
    "id": CHANNEL_ID,
    "name": "ops",
    "enable": True,
    "service": "ntfy",
    "url": "ntfys://***",
    "version": 1,
}
RULE = {
    "id": RULE_ID,
    "name": "nights",
    "enable": True,
    "channels": [CHANNEL_ID],
    **{name: [] for name in ("kinds", "objects", "states", "tags")},
    "severity": "HIGH",
    "quiet": {"from": "22:00", "to": "07:00", "zone": "UTC", "but_critical": True},
    "group": 10,
    "version": 4,
}
MESSAGE = {
    "id": MESSAGE_ID,
    "state": "sent",
    "channel_id": CHANNEL_ID,
    "rule_id": RULE_ID,
    "recipient": "",
    "severity": "HIGH",
    "events": [{"title": "shop fails"}],
    "more": 2,
    "attempts": 2,
    "tries": [
        {"date": DATE, "fault": "The receiver responded with 500."},
        {"date": DATE, "fault": ""},
    ],
    "due": None,
    "sent": DATE,
    "creation_date": DATE,
}
NOTIFICATION = {
    "id": NOTIFICATION_ID,
    "title": "shop fails",
    "severity": "HIGH",
    "read": False,
    "creation_date": DATE,
}
_CHANNEL, _RULE = f"/notify/channel/{CHANNEL_ID}", f"/notify/rule/{RULE_ID}"
_MESSAGE = f"/notify/message/{MESSAGE_ID}"
_KEY = {"id": CHANNEL_ID, "secret": "5ec2e7"}

CALLS: list[tuple[str, tuple[str, str, Any, Any], str]] = [
    ("notify channels", ("GET", "/notify/channel", {}, None), "ntfys://***"),
    (
        "notify add ops ntfys://ntfy.sh/t",
        ("POST", "/notify/channel", {}, {"name": "ops", "url": "ntfys://ntfy.sh/t"}),
        "notify test ops",
    ),
    ("notify edit ops --disable", ("PATCH", _CHANNEL, {}, {"enable": False}), "updated"),
    ("notify remove ops", ("DELETE", _CHANNEL, {}, None), "deleted"),
    ("notify test ops", ("POST", f"{_CHANNEL}/test", {}, None), "was sent"),
    ("notify secret ops", ("GET", f"{_CHANNEL}/credentials", {}, None), "5ec2e7"),
    ("notify secret ops --rotate", ("POST", f"{_CHANNEL}/credentials/rotate", {}, None), "5ec"),
    ("notify rules", ("GET", "/notify/rule", {}, None), "22:00-07:00 UTC"),
    ("notify rule nights", ("GET", "/notify/rule", {}, None), "HIGH and above"),
    (
        "notify rule-add nights --channel ops --kind job.* --severity HIGH --quiet 22:00-07:00",
        (
            "POST",
            "/notify/rule",
            {},
            {
                "name": "nights",
                "kinds": ["job.*"],
                "channels": [CHANNEL_ID],
                "severity": "HIGH",
                "quiet": {"from": "22:00", "to": "07:00", "zone": "UTC"},
            },
        ),
        "created",
    ),
    (
        "notify rule-edit nights --tag web --group 5m",
        ("PATCH", _RULE, {}, {"tags": ["web"], "group": 300}),
        "updated",
    ),
    ("notify rule-edit nights --quiet=", ("PATCH", _RULE, {}, {"quiet": None}), "updated"),
    ("notify rule-remove nights", ("DELETE", _RULE, {}, None), "deleted"),
    (
        "notify messages --dead",
        ("GET", "/notify/message", {"limit": "20", "where[state]": "dead"}, None),
        "shop fails (+2)",
    ),
    (f"notify message {MESSAGE_ID}", ("GET", _MESSAGE, {}, None), "responded with 500"),
    (f"notify retry {MESSAGE_ID}", ("POST", f"{_MESSAGE}/retry", {}, None), "queued again: 1"),
    ("notify retry --all", ("POST", f"{_MESSAGE}/retry", {}, None), "queued again: 1"),
    (
        "notify inbox",
        ("GET", "/notification", {"limit": "20", "where[read]": "false"}, None),
        "shop fails",
    ),
    ("notify mute", ("GET", "/notification/preferences", {}, None), "job.lost"),
    (
        "notify mute job.finished",
        ("PUT", "/notification/preferences", {}, {"muted": ["job.finished", "job.lost"]}),
        "job.finished",
    ),
    (
        "notify mute job.lost --off",
        ("PUT", "/notification/preferences", {}, {"muted": []}),
        "job.finished",
    ),
    ("notify read", ("PUT", "/notification/read", {}, None), "3 marked"),
    (
        f"notify read {NOTIFICATION_ID}",
        ("PUT", f"/notification/{NOTIFICATION_ID}/read", {}, None),
        "1 marked",
    ),
]
_WISHES = {"muted": ["job.lost"], "kinds": {"job.finished": "bad", "job.lost": "lost"}}
ANSWERS: list[tuple[str, str, Any]] = [
    ("GET", "/notification/preferences", _WISHES),
    ("PUT", "/notification/preferences", _WISHES),
    ("GET", "/notify/channel", [CHANNEL]),
    ("POST", "/notify/channel", CHANNEL),
    ("PATCH", _CHANNEL, CHANNEL),
    ("DELETE", _CHANNEL, CHANNEL),
    ("POST", f"{_CHANNEL}/test", MESSAGE),
    ("GET", f"{_CHANNEL}/credentials", _KEY),
    ("POST", f"{_CHANNEL}/credentials/rotate", _KEY),
    ("GET", "/notify/rule", [RULE]),
    ("POST", "/notify/rule", RULE),
    ("PATCH", _RULE, RULE),
    ("DELETE", _RULE, RULE),
    ("GET", "/notify/message", [MESSAGE]),
    ("GET", _MESSAGE, MESSAGE),
    ("POST", f"{_MESSAGE}/retry", MESSAGE),
    ("GET", "/notification", [NOTIFICATION]),
    ("PUT", "/notification/read", {"count": 3}),
    ("PUT", f"/notification/{NOTIFICATION_ID}/read", NOTIFICATION),
]
REFUSED = [
    ("notify edit ops", 2, "Nothing to change"),
    ("notify rule-add x", 2, "--channel"),
    ("notify rule-add x --channel ops --quiet night", 2, "22:00-07:00"),
    ("notify retry", 2, "--all"),
    ("notify test nobody", 1, "See: belvedere notify channels"),
]
