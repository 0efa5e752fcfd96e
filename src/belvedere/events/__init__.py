"""What happened, in order."""

from belvedere.events.model import Event
from belvedere.events.store import after, append, append_all, newest, of_object

__all__ = ["Event", "after", "append", "append_all", "newest", "of_object"]
