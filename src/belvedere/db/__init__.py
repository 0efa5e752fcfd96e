"""The only place that knows which engine runs."""

from belvedere.db.interface import Asked, Database, Fragments, Row, Sealer, Tx, columns

__all__ = ["Asked", "Database", "Fragments", "Row", "Sealer", "Tx", "columns"]
