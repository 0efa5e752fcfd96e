"""The server that the tests of this folder talk to."""

from contract.serving import (
    ada,
    eve,
    http_transport,
    quick_passwords,
    runtime,
    settings,
    stranger,
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
    "stranger",
    "uma",
    "vic",
    "watch",
    "world",
]
