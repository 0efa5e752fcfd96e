"""What happened, in order."""

from belvedere.events.log import (
    LIFE,
    Event,
    after,
    append,
    append_all,
    append_each,
    delete_for,
    delete_old,
    newest,
    of_object,
)

__all__ = [
    "LIFE",
    "Event",
    "after",
    "append",
    "append_all",
    "append_each",
    "delete_for",
    "delete_old",
    "newest",
    "of_object",
]
