"""What can start something: each kind of source with its table and the names of its events.

The sources belong to packages above this one, so they are listed here by table name instead of
being imported.
"""

from dataclasses import dataclass

from belvedere.base.ids import is_id
from belvedere.db import Tx


@dataclass(frozen=True, slots=True)
class EventSource:
    """Where the rows of a kind are, which column has their name, and the names of their events."""

    # A table with id and customer_id.
    table: str
    # The column with the name that people see.
    name: str
    event_names: tuple[str, ...]
    # The condition for a row that is not deleted.
    live: str = "deleted_at is null"
    # Its scripts may name their own events.
    names_others: bool = False


SOURCES = {
    "task": EventSource("tasks", "name", ("success", "failure"), names_others=True),
    "workflow": EventSource("workflows", "name", ("success", "failure", "canceled")),
    "indicator": EventSource("indicators", "title", ("failure", "normal", "stale")),
    "webhook": EventSource("webhooks", "name", ("trigger",), live="1 = 1"),
    "monitor": EventSource(
        "monitors",
        "name",
        ("failure", "recovered", "updates_stopped", "updates_started", "changed", "flapping"),
    ),
}
MAX_NAME = 128


@dataclass(frozen=True, slots=True)
class EventReference:
    """An event of a source, as records and bodies refer to it: by `id`."""

    source: str
    source_id: str
    event_name: str

    @property
    def id(self) -> str:
        return f"{self.source}:{self.source_id}:{self.event_name}"


def parse(text: str) -> EventReference | None:
    """The event that an id refers to, if it is well-formed. Does not look up the source."""
    source, _, rest = text.partition(":")
    source_id, _, event_name = rest.partition(":")
    definition = SOURCES.get(source)
    if definition is None or not is_id(source_id) or not 0 < len(event_name) <= MAX_NAME:
        return None
    if event_name not in definition.event_names and not (
        definition.names_others and event_name.isprintable()
    ):
        return None
    return EventReference(source, source_id, event_name)


def exists(tx: Tx, customer_id: str, source: str, source_id: str) -> bool:
    """Whether the customer has this source."""
    definition = SOURCES[source]
    row = tx.row(
        f"select 1 from {definition.table} where id = ? and customer_id = ? and {definition.live}",
        source_id,
        customer_id,
    )
    return row is not None


def name_of(tx: Tx, customer_id: str, kind: str, source_id: str) -> str:
    """The name of a source, also of a deleted one; empty if there is none."""
    source = SOURCES[kind]
    name: str | None = tx.value(
        f"select {source.name} from {source.table} where id = ? and customer_id = ?",
        source_id,
        customer_id,
    )
    return name or ""
