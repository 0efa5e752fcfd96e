"""Certificates that the agent trusts for its server."""

import ssl

from belvedere.agent.setup.settings import AgentSettings


def context(settings: AgentSettings) -> ssl.SSLContext | None:
    """None for a connection without encryption."""
    if not settings.server.startswith("https:"):
        return None
    return ssl.create_default_context(cafile=settings.tls_ca or None)
