"""Moves an installation to the other database engine.

The key and everything else in the data folder stays where it is.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from belvedere.access.crypto.keyring import KEY_CHECK
from belvedere.base.errors import Conflict, Invalid
from belvedere.db import Tx
from belvedere.db.backup.copy import SQLITE, Location, check_complete
from belvedere.db.transfer import marks
from belvedere.db.transfer.comparison import Report
from belvedere.db.transfer.run import Plan, TransferRecord, source_of, transfer
from belvedere.db.transfer.side import FullDisk
from belvedere.events import engine_change
from belvedere.jobs.recovery import restore
from belvedere.settings import Settings

_POSTGRES_SCHEMES = ("postgresql://", "postgres://")
_SQLITE_SCHEME = "sqlite://"


class ReopenRecord(msgspec.Struct):
    """What `--reopen` did, for the command line."""

    database: str
    # Where the data is that is not in this database; empty if it has everything.
    other: str
    # Raised if servers may have used the other database.
    epoch: int | None


def move(
    settings: Settings, to: str, report: Report, wait: Callable[[], None], *, is_copy_only: bool
) -> TransferRecord:
    source, target = _location(settings), _target(settings, to)
    if source.engine_name == target.engine_name:
        raise _same_engine(source, target)
    for location in (source, target):
        check_complete(location)
    plan = Plan(
        KEY_CHECK,
        engine_change.EXPRESSIONS,
        engine_change.continue_numbers,
        report,
        wait,
        is_copy_only,
    )
    try:
        return transfer(source, target, plan)
    except FullDisk as fault:
        raise Conflict(
            f"{fault.strerror}. Free space and run `belvedere migrate` again: it continues."
        ) from fault


def _location(settings: Settings) -> Location:
    return Location(settings.database_url, settings.folder)


def _target(settings: Settings, to: str) -> Location:
    if to == SQLITE:
        return Location(str(settings.folder / "belvedere.db"), settings.folder)
    path = to.removeprefix(_SQLITE_SCHEME)
    if to.startswith(_POSTGRES_SCHEMES) or (path != to and Path(path).is_absolute()):
        return Location(to, settings.folder)
    raise Invalid(
        f"--to must be postgresql://USER@HOST/DATABASE, sqlite (in the data folder) or"
        f" sqlite:///ABSOLUTE/PATH, not {to.partition('://')[0]}{'://…' * ('://' in to)}."
    )


def _same_engine(source: Location, target: Location) -> Conflict:
    name = source.engine_name
    if source.database.removeprefix(_SQLITE_SCHEME) == target.database.removeprefix(_SQLITE_SCHEME):
        return Conflict(f"--to names the database that is moved ({name}). Name the new one.")
    return Conflict(
        f"Both databases are {name}. To move an installation to another {name} database, use"
        " `belvedere backup` and `belvedere restore`.",
    )


def reopen(settings: Settings) -> ReopenRecord:
    """Let servers use a database again that was moved away."""
    location = _location(settings)
    return source_of(location).change(lambda tx: _reopen(tx, location))


def _reopen(tx: Tx, location: Location) -> ReopenRecord:
    mark = marks.read(tx)
    if mark is None or mark.state not in (marks.CLOSED, marks.MOVED):
        raise Conflict("This database was not moved; a server can use it.")
    marks.clear(tx)
    name = location.engine_name
    if mark.state == marks.CLOSED:
        return ReopenRecord(name, "", None)
    return ReopenRecord(name, mark.other, restore.mark_restored(tx))
