"""The same server that the contract tests talk to."""

from contract.serving import (
    ada,
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
    "uma",
    "vic",
    "world",
]
