"""What happened, in order."""

from belvedere.events.model import Event
from belvedere.events.store import after, append, newest, of_object

__all__ = ["Event", "after", "append", "newest", "of_object"]
