"""Requests of commands about searching, views and status pages; a part of the table in
test_calls.py."""

from typing import Any

import cli_records

VIEW_ID, PAGE_ID = "65a000000000000000000501", "65a000000000000000000601"
CHANGED = "2026-03-01T10:00:00.000Z"
VIEW: dict[str, Any] = {
    "id": VIEW_ID,
    "name": "Failed",
    "page": "jobs",
    "query": "state=failure",
    "shared": False,
    "mine": True,
    "user": "ada@acme.example",
    "last_update": CHANGED,
}
PAGE: dict[str, Any] = {
    "id": PAGE_ID,
    "slug": "shop",
    "title": "Shop",
    "description": "",
    "enable": True,
    "parts": [{"name": "payment", "tag": "payment"}],
    "url": "https://belvedere.example/-/status/shop",
    "version": 1,
    "last_update": CHANGED,
}
INCIDENT_ID = "65a000000000000000000602"
INCIDENTS = f"/statuspage/{PAGE_ID}/incident"
INCIDENT: dict[str, Any] = {
    "id": INCIDENT_ID,
    "title": "Delays",
    "impact": "outage",
    "state": "identified",
    "started": CHANGED,
    "ended": None,
    "updates": [{"date": CHANGED, "state": "identified", "text": "A disk was full."}],
}
TASK = {
    "kind": "task",
    "id": cli_records.TASK_ID,
    "name": "backup",
    "detail": "web-1",
    "state": None,
}
CALLS: list[tuple[str, tuple[str, str, dict[str, str], Any], str]] = [
    (
        "search nightly backup --kind task",
        ("GET", "/-/search", {"q": "nightly backup", "limit": "20", "kind": "task"}, None),
        "backup",
    ),
    ("view list", ("GET", "/view", {}, None), "state=failure"),
    ("view delete failed", ("DELETE", f"/view/{VIEW_ID}", {}, None), "View Failed deleted"),
    ("status-page list", ("GET", "/statuspage", {}, None), "shop"),
    ("status-page show shop", ("GET", "/statuspage", {}, None), "/ui/status/shop"),
    (
        "status-page create Shop --tag payment --slug shop",
        (
            "POST",
            "/statuspage",
            {},
            {"title": "Shop", "parts": [{"name": "payment", "tag": "payment"}], "slug": "shop"},
        ),
        "payment (tag payment)",
    ),
    ("status-page delete Shop", ("DELETE", f"/statuspage/{PAGE_ID}", {}, None), "Shop deleted"),
    ("incident list shop", ("GET", INCIDENTS, {}, None), "Identified"),
    (
        "incident post shop Title Searching. --impact notice",
        (
            "POST",
            INCIDENTS,
            {},
            {
                "title": "Title",
                "impact": "notice",
                "text": "Searching.",
                "state": "investigating",
                "notify": True,
            },
        ),
        "Delays",
    ),
    (
        f"incident update shop {INCIDENT_ID} Continues. --no-notify",
        (
            "POST",
            f"{INCIDENTS}/{INCIDENT_ID}/update",
            {},
            {"text": "Continues.", "state": "identified", "notify": False},
        ),
        "A disk was full.",
    ),
    (
        "incident resolve shop 000602 Fixed.",
        (
            "POST",
            f"{INCIDENTS}/{INCIDENT_ID}/update",
            {},
            {"text": "Fixed.", "state": "resolved", "notify": True},
        ),
        "Delays",
    ),
    (
        "incident delete shop delays",
        ("DELETE", f"{INCIDENTS}/{INCIDENT_ID}", {}, None),
        "Delays deleted",
    ),
]
ANSWERS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/-/search", [TASK]),
    ("GET", "/view", [VIEW]),
    ("DELETE", f"/view/{VIEW_ID}", VIEW),
    ("GET", "/statuspage", [PAGE]),
    ("POST", "/statuspage", PAGE),
    ("DELETE", f"/statuspage/{PAGE_ID}", PAGE),
    ("GET", INCIDENTS, [INCIDENT]),
    ("POST", INCIDENTS, INCIDENT),
    ("POST", f"{INCIDENTS}/{INCIDENT_ID}/update", INCIDENT),
    ("DELETE", f"{INCIDENTS}/{INCIDENT_ID}", INCIDENT),
)
REFUSED = (
    ("status-page create Shop", 2, "The page is empty"),
    ("status-page show nothing", 1, "See: belvedere status-page list"),
    ("incident resolve shop nothing Fixed.", 1, "See: belvedere incident list PAGE"),
    ("view delete nothing", 1, "See: belvedere view list"),
)
