"""New, empty databases for the bench: files in its folder, or databases on a PostgreSQL server."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from belvedere.db import Database
from belvedere.db.migrate import migrate, open_database


@contextmanager
def fresh(server: str, folder: Path, name: str) -> Iterator[str]:
    """Where an empty database is, gone afterwards. `server` is empty for SQLite; on PostgreSQL
    the role must be allowed to create databases, and none that was there is touched."""
    if not server:
        yield str(folder / f"{name}.db")
        return
    made = f"belvedere_bench_{name}_{secrets.token_hex(4)}"
    _administer(server, f"create database {made}")
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{made}"))
    finally:
        _administer(server, f"drop database {made} with (force)")


def _administer(server: str, statement: str) -> None:
    from belvedere.db.postgres.database import Postgres

    with Postgres(server).connect(autocommit=True) as connection:
        connection.execute(statement.encode())


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """The database with today's schema."""
    db = open_database(url)
    try:
        migrate(db)
        yield db
    finally:
        asyncio.run(db.close())
