"""Who is told of what happens: events become notices, with those whom they concern."""

from belvedere.server.notices.consumer import KINDS, tell

__all__ = ["KINDS", "tell"]
