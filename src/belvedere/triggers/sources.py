"""What can start something: each kind of source with its table and the names of its events.

The sources belong to packages above this one, so they are listed here by table name instead of
being imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    # Further names of events, by the type of the row.
    events_by_type: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has_event(self, name: str) -> bool:
        """Whether some row of this kind has an event with this name."""
        return (
            name in self.event_names
            or any(name in names for names in self.events_by_type.values())
            or (self.names_others and name.isprintable())
        )


SOURCES = {
    "task": EventSource("tasks", "name", ("success", "failure"), names_others=True),
    "workflow": EventSource("workflows", "name", ("success", "failure", "canceled")),
    "indicator": EventSource("indicators", "title", ("failure", "normal", "stale")),
    "webhook": EventSource("webhooks", "name", ("trigger",), live="1 = 1"),
    "monitor": EventSource(
        "monitors",
        "name",
        ("failure", "recovered", "updates_stopped", "updates_started", "changed", "flapping"),
        events_by_type={"file": ("file:changed", "file:restored")},
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
    if not definition.has_event(event_name):
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
