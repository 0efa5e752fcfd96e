"""What happened, in order."""

from belvedere.events.model import LIFE, Event
from belvedere.events.store import after, append, append_all, append_each, newest, of_object

__all__ = [
    "LIFE",
    "Event",
    "after",
    "append",
    "append_all",
    "append_each",
    "newest",
    "of_object",
]
