"""What the agent trusts when it speaks to its server."""

import ssl

from belvedere.agent.setup.settings import AgentSettings


def context(settings: AgentSettings) -> ssl.SSLContext | None:
    """None where the server is reached without encryption."""
    if not settings.server.startswith("https:"):
        return None
    return ssl.create_default_context(cafile=settings.tls_ca or None)
