"""A fresh, migrated database per test on either engine, copied from a template made once."""

import asyncio
import itertools
import os
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

ENGINES = ("sqlite", "postgres")
_number = itertools.count()


def closed(db: Database) -> None:
    """Close it, but never wait for a write that a dead event loop left behind."""
    asyncio.run(asyncio.wait_for(db.close(), 10))


def sqlite_file(session: Path, folder: Path) -> str:
    """The path of a migrated file in `folder`."""
    template = session / "template.db"
    with pgguard.only_one(session, "sqlite"):
        if not template.exists():
            draft = open_database(str(session / "draft.db"))
            migrate(draft)
            closed(draft)
            (session / "draft.db").rename(template)
    path = folder / "belvedere.db"
    shutil.copyfile(template, path)
    return str(path)


@contextmanager
def postgres_database(session: Path) -> Iterator[str]:
    """The URL of a migrated database on the session's server, dropped afterwards."""
    server = os.environ.get("BELVEDERE_TEST_POSTGRES") or pgguard.shared(session)
    template = _template(session, server)
    name = f"{template}_{os.getpid()}_{next(_number)}"
    # Copying files beats replaying a log here: 18 ms against 50.
    _administer(server, "create database {} template {} strategy file_copy", name, template)
    try:
        yield _within(server, name)
    finally:
        _administer(server, "drop database {} with (force)", name)


def _template(session: Path, server: str) -> str:
    name = session.name.replace("-", "_").lower()
    made = session / "postgres-template"
    with pgguard.only_one(session, "template"):
        if not made.exists():
            _administer(server, "create database {}", name)
            draft = open_database(_within(server, name))
            migrate(draft)
            migrate(draft, "logs")
            closed(draft)
            made.touch()
    return name


def forget_template(session: Path) -> None:
    """Leave nothing behind on a server that is not ours."""
    server = os.environ.get("BELVEDERE_TEST_POSTGRES")
    if server and (session / "postgres-template").exists():
        _administer(server, "drop database {}", _template(session, server))


def _administer(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        text = sql.SQL(statement).format(*map(sql.Identifier, names))
        connection.execute(text)


def _within(server: str, name: str) -> str:
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
