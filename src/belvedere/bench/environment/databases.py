"""Empty databases for the bench: files in its folder, or databases on a PostgreSQL server."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from belvedere.db import Database
from belvedere.db.migrate import migrate, open_database
from belvedere.server import ports


@contextmanager
def temporary_database(server: str, folder: Path, name: str) -> Iterator[str]:
    """The URL of an empty database, which is dropped afterwards. `server` is empty for SQLite. On
    PostgreSQL the role needs permission to create databases; existing ones are not touched."""
    if not server:
        yield str(folder / f"{name}.db")
        return
    database = f"belvedere_bench_{name}_{secrets.token_hex(4)}"
    _administer(server, f"create database {database}")
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{database}"))
    finally:
        _administer(server, f"drop database {database} with (force)")


def _administer(server: str, statement: str) -> None:
    from belvedere.db.postgres.database import Postgres

    with Postgres(server).connect(autocommit=True) as connection:
        # A busy disk can take longer to drop a database than any statement of the server may.
        connection.execute(b"set statement_timeout = 0")
        connection.execute(statement.encode())


@contextmanager
def open_migrated(url: str) -> Iterator[Database]:
    """The database with the current schema."""
    ports.connect()
    db = open_database(url)
    try:
        migrate(db)
        yield db
    finally:
        asyncio.run(db.close())
