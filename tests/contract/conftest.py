"""The server that the tests of this folder talk to."""

from contract.serving import (
    ada,
    eve,
    house,
    quick_passwords,
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
    "house",
    "quick_passwords",
    "settings",
    "stranger",
    "uma",
    "vic",
    "watch",
    "world",
]
