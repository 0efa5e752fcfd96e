"""The only place that knows which engine runs."""

from belvedere.db.interface import Database, Dialect, Query, Row, Sealer, Tx, columns

__all__ = ["Query", "Database", "Dialect", "Row", "Sealer", "Tx", "columns"]
