"""The server of the contract tests."""

from contract.serving import (
    ada,
    anonymous,
    create_initial_objects,
    eve,
    http_transport,
    runtime,
    settings,
    uma,
    vic,
    world,
)

__all__ = [
    "create_initial_objects",
    "http_transport",
    "ada",
    "eve",
    "runtime",
    "settings",
    "anonymous",
    "uma",
    "vic",
    "world",
]
