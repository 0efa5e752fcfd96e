"""The only package that knows which database engine is used."""

from belvedere.db.interface import Database, Dialect, Query, Row, Sealer, Tx, columns

__all__ = ["Query", "Database", "Dialect", "Row", "Sealer", "Tx", "columns"]
