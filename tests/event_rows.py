"""The events of one object, oldest first."""

from belvedere.db import Tx, columns
from belvedere.events import Event


def for_object(tx: Tx, object_id: str) -> list[Event]:
    statement = f"select {columns(Event)} from events where object_id = ? order by id"
    return tx.all(Event, statement, object_id)
