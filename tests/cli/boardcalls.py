"""What commands about searching, views and status pages ask the server for; a part of the table in
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
    ("view delete failed", ("DELETE", f"/view/{VIEW_ID}", {}, None), "Failed is deleted"),
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
    ("status-page delete Shop", ("DELETE", f"/statuspage/{PAGE_ID}", {}, None), "Shop is deleted"),
]
ANSWERS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/-/search", [TASK]),
    ("GET", "/view", [VIEW]),
    ("DELETE", f"/view/{VIEW_ID}", VIEW),
    ("GET", "/statuspage", [PAGE]),
    ("POST", "/statuspage", PAGE),
    ("DELETE", f"/statuspage/{PAGE_ID}", PAGE),
)
REFUSED = (
    ("status-page create Shop", 2, "the page is empty"),
    ("status-page show nothing", 1, "See: belvedere status-page list"),
    ("view delete nothing", 1, "See: belvedere view list"),
)
