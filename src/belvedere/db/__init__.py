"""The only place that knows which engine runs."""

from belvedere.db.database import Database, Fragments, Tx, columns

__all__ = ["Database", "Fragments", "Tx", "columns"]
