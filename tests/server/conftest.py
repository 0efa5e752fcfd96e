"""The server that the tests of this folder talk to."""

from contract.serving import (
    ada,
    eve,
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
