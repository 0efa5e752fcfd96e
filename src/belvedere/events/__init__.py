"""The event log: every change, in order, and its consumers' cursors.

`log` appends events, `cursors` reads them for consumers, `feed` for live streams. `kinds` is the
table of all kinds; `budget` limits how many events are kept.
"""

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
]
