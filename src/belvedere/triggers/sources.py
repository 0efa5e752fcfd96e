"""What can start something: each kind of source with its table and what can happen to it.

Sources lie on floors above this one; what a task needs to know of those that start it, it finds
here by name instead of by import.
"""

from dataclasses import dataclass

from belvedere.base.ids import is_id
from belvedere.db import Tx


@dataclass(frozen=True, slots=True)
class Source:
    """Where its rows are, how they are called, and the names of what happens to them."""

    # A table with id and customer_id.
    table: str
    # The column that people know it by.
    name: str
    event_names: tuple[str, ...]
    # What a row must satisfy to be there.
    live: str = "deleted_at is null"
    # Its scripts may name events of their own.
    names_others: bool = False


SOURCES = {
    "task": Source("tasks", "name", ("success", "failure"), names_others=True),
    "workflow": Source("workflows", "name", ("success", "failure", "canceled")),
    "indicator": Source("indicators", "title", ("failure", "normal", "stale")),
    "webhook": Source("webhooks", "name", ("trigger",), live="1 = 1"),
    "monitor": Source(
        "monitors",
        "name",
        ("failure", "recovered", "updates_stopped", "updates_started", "changed", "flapping"),
    ),
}
MAX_NAME = 128


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that happens to a source. Its id is how records and bodies name it."""

    source: str
    source_id: str
    event_name: str

    @property
    def id(self) -> str:
        return f"{self.source}:{self.source_id}:{self.event_name}"


def parse(text: str) -> Cause | None:
    """What an id means, if it can mean anything; whether the source is there is another matter."""
    source, _, rest = text.partition(":")
    source_id, _, event_name = rest.partition(":")
    known = SOURCES.get(source)
    if known is None or not is_id(source_id) or not 0 < len(event_name) <= MAX_NAME:
        return None
    if event_name not in known.event_names and not (
        known.names_others and event_name.isprintable()
    ):
        return None
    return Cause(source, source_id, event_name)


def is_there(tx: Tx, customer_id: str, source: str, source_id: str) -> bool:
    """Whether this organization has it."""
    of = SOURCES[source]
    found = tx.row(
        f"select 1 from {of.table} where id = ? and customer_id = ? and {of.live}",
        source_id,
        customer_id,
    )
    return found is not None
