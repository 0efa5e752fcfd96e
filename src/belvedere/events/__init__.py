"""What happened, in order."""

from belvedere.events.log import after, append, append_all, append_each, newest, of_object
from belvedere.events.model import LIFE, Event

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
