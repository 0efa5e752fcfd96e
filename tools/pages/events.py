"""docs/reference/events.md: every kind of event, from the table that the log itself obeys."""

from itertools import groupby

from belvedere.events.kinds import KINDS
from pages.table import code, heading, table

ABOUT = """
Every change writes its event in the same transaction. `GET /-/events` streams them as server-sent
events: `event` is the kind, `data` is JSON with the object's id and what changed, `id` is the
cursor. A client that comes back with `Last-Event-ID` misses nothing; when that is too old, or when
its own rights changed, it gets `resync` and reads anew. Members see the events of what they may
see.
"""


def page() -> str:
    parts = [heading("Events", ABOUT)]
    for name, kinds in groupby(KINDS, key=lambda kind: kind.partition(".")[0]):
        rows = ((code(kind), KINDS[kind]) for kind in kinds)
        parts.append(f"## {name}\n\n{table(('Kind', 'What happened'), rows)}")
    return "\n".join(parts)
