"""The only package that knows which database engine is used.

`interface` is what other packages see: a transaction and the ways to run an operation. `sqlite` and
`postgres` implement it, `migrate` applies the SQL files. `signals` wakes waiting code after a
commit, `ports` are functions that a package above provides.
"""

from belvedere.db.interface import (
    Database,
    Dialect,
    Query,
    Row,
    Sealer,
    Tx,
    columns,
    is_database_fault,
)

__all__ = ["Query", "Database", "Dialect", "Row", "Sealer", "Tx", "columns", "is_database_fault"]
