"""Fixtures of the contract tests: a server in the process, with two organizations."""

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
