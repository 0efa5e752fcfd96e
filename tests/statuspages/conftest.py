"""The server of the contract tests."""

from contract.serving import ada, anonymous, eve, http_transport, runtime, settings, uma, vic, world

__all__ = [
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
