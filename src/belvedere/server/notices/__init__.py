"""Builds notices from events, with their recipients."""

from belvedere.server.notices.consumer import KINDS, notify

__all__ = ["KINDS", "notify"]
