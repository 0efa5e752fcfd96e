"""The server of the tests in this folder."""

from contract.serving import (
    ada,
    anonymous,
    eve,
    http_transport,
    quick_passwords,
    runtime,
    settings,
    uma,
    vic,
    watch,
    world,
)

__all__ = [
    "http_transport",
    "ada",
    "eve",
    "runtime",
    "quick_passwords",
    "settings",
    "anonymous",
    "uma",
    "vic",
    "watch",
    "world",
]
