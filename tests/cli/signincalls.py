"""Requests of commands about signing in; a part of the table in test_calls.py."""

from typing import Any

PROVIDER_ID = "65a000000000000000000401"
PROVIDER = f"/api/provider/{PROVIDER_ID}"
FOUND: dict[str, Any] = {
    "id": PROVIDER_ID,
    "name": "Google",
    "issuer": "https://accounts.google.com",
    "level": "",
    "domains": ["acme.example"],
    "enabled": True,
    "callback": "https://belvedere.example/-/oidc/callback",
}
CUSTOMER = {"name": "acme", "providers_only": True, "history": {"count": 5_000, "days": 90}}
STANDING = {"enabled": True, "since": None, "recovery_codes": 7, "required": True}
WAITING = "/api/session/invitation"
OFFER: dict[str, Any] = {
    "id": "65a000000000000000000501",
    "customer_name": "globex",
    "credential": "user",
    "invitation": False,
}
CALLS: list[tuple[str, tuple[str, str, dict[str, str], Any], str]] = [
    ("second-factor show", ("GET", "/api/auth/second-factor", {}, None), "7"),
    (
        "organization passwords off",
        ("PUT", "/api/customer", {}, {"providers_only": True}),
        "only through a provider",
    ),
    (
        "organization history --jobs 5000",
        ("PUT", "/api/customer", {}, {"history": {"count": 5_000}}),
        "acme keep 5,000 finished jobs, for 90 days",
    ),
    ("organization history", ("GET", "/api/customer", {}, None), "5,000 finished jobs"),
    ("member invitations", ("GET", WAITING, {}, None), "active with another account"),
    (
        "member accept globex",
        ("POST", WAITING, {}, {"id": OFFER["id"]}),
        "You now have the level user in globex",
    ),
    (
        "member decline globex",
        ("DELETE", f"{WAITING}/{OFFER['id']}", {}, None),
        "You declined the membership in globex",
    ),
    ("provider list", ("GET", "/api/provider", {}, None), "must be invited"),
    ("provider disable Google", ("PATCH", PROVIDER, {}, {"enabled": False}), "Google is disabled"),
    ("provider enable Google", ("PATCH", PROVIDER, {}, {"enabled": True}), "Google is enabled"),
    (
        "provider switch-callback Google",
        ("PATCH", PROVIDER, {}, {"callback": "own"}),
        "/-/oidc/callback",
    ),
    ("provider remove Google", ("DELETE", PROVIDER, {}, None), "Google removed"),
]
ANSWERS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/api/auth/second-factor", STANDING),
    ("PUT", "/api/customer", CUSTOMER),
    ("GET", "/api/customer", CUSTOMER),
    ("GET", WAITING, [OFFER]),
    ("POST", WAITING, OFFER),
    ("DELETE", f"{WAITING}/{OFFER['id']}", OFFER),
    ("GET", "/api/provider", [FOUND]),
    ("PATCH", PROVIDER, FOUND),
    ("DELETE", PROVIDER, FOUND),
)
