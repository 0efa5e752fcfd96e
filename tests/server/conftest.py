"""The server of the tests in this folder."""

from contract.serving import (
    ada,
    anonymous,
    create_initial_objects,
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
    "create_initial_objects",
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
