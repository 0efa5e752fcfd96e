"""A fresh, migrated database per test on either engine, copied from a template made once."""

import asyncio
import itertools
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

import pgguard
from belvedere.db import Database
from belvedere.db.migrate import migrate, open_database
from belvedere.db.sqlite.database import Sqlite

ENGINES = ("sqlite", "postgres")
_number = itertools.count()
# Connections that create and drop databases, by server: a new connection takes longer than dropping
# a database.
_operators: dict[str, psycopg.Connection] = {}


def open_fast(url: str) -> Database:
    """Open, and without durability like our PostgreSQL: no test waits for the disk."""
    db = open_database(url)
    if isinstance(db, Sqlite):
        db._writer.execute("pragma synchronous=off")
    return db


def close(db: Database) -> None:
    """Close it, but never wait for a write that a stopped event loop left behind."""
    asyncio.run(asyncio.wait_for(db.close(), 10))


def sqlite_template(path: Path, steps: str = "migrations") -> Path:
    draft = open_fast(str(path))
    migrate(draft, steps)
    close(draft)
    return path


@contextmanager
def postgres_template() -> Iterator[str]:
    """The URL of a migrated database without connections.

    Each test process has its own server: cursors on the event log wait for the oldest transaction
    of the whole server, so processes that share one would see each other's events late.
    """
    response = os.environ.get("BELVEDERE_TEST_POSTGRES")
    if not response:
        with pgguard.start_guarded() as server:
            yield _create_migrated(_within(server, "template"))
            _leave(server)
        return
    # Leave nothing behind on a server that is not ours.
    template = _within(response, f"belvedere_test_{secrets.token_hex(4)}")
    yield _create_migrated(template)
    _administer(template, "drop database {}", _name(template))
    _leave(template)


def create_migrated(server: str, name: str) -> str:
    """The URL of a new migrated database on this server."""
    url = _create_migrated(_within(server, name))
    _leave(server)
    return url


def _create_migrated(template: str) -> str:
    _administer(template, "create database {}", _name(template))
    draft = open_database(template)
    migrate(draft)
    migrate(draft, "logs")
    close(draft)
    return template


@contextmanager
def copy(template: str, folder: Path) -> Iterator[str]:
    """A database of its own with the content of a template, deleted afterwards."""
    if "://" in template:
        with postgres_copy(template) as url:
            yield url
        return
    path = folder / f"belvedere-{next(_number)}.db"
    yield str(shutil.copyfile(template, path))
    for name in (path, *path.parent.glob(f"{path.name}-*")):
        name.unlink(missing_ok=True)


@contextmanager
def postgres_copy(template: str) -> Iterator[str]:
    """The URL of a migrated database, dropped afterwards."""
    name = f"{_name(template)}_{next(_number)}"
    # Copying files is faster than replaying a log here.
    make = "create database {} template {} strategy file_copy"
    _administer(template, make, name, _name(template))
    try:
        yield _within(template, name)
    finally:
        _administer(template, "drop database {} with (force)", name)


def backup_of(url: str) -> str:
    """The URL of a database beside this one."""
    return _within(url, f"{_name(url)}_backup")


def create_postgres(server: str, name: str) -> str:
    """The URL of a new empty database on this server."""
    _administer(server, "create database {}", name)
    _leave(server)
    return _within(server, name)


def empty_postgres(url: str) -> None:
    """Make the database empty, without its schema."""
    _administer(url, "drop database {} with (force)", _name(url))
    _administer(url, "create database {}", _name(url))


def replace_postgres(url: str, by: str) -> None:
    """Make the database a copy of another one, which has no connections."""
    _administer(url, "drop database if exists {} with (force)", _name(url))
    _administer(url, "create database {} template {} strategy file_copy", _name(url), _name(by))


def drop_postgres(url: str) -> None:
    _administer(url, "drop database if exists {} with (force)", _name(url))


def _administer(url: str, statement: str, *names: str) -> None:
    server = _within(url, "postgres")
    if server not in _operators:
        _operators[server] = psycopg.connect(server, autocommit=True)
    _operators[server].execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _leave(url: str) -> None:
    _operators.pop(_within(url, "postgres")).close()


def _name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def _within(url: str, name: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
