"""Marks in the databases of a transfer, and the check at the start of a server.

The target is marked from its first table on until it is complete, the source from the moment at
which its servers were stopped.
"""

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import installation
from belvedere.db.backup import restore_marker
from belvedere.db.interface import Tx, is_postgres
from belvedere.db.migrate import list_applied
from belvedere.db.readonly import peek

# In the table `meta`; names that begin with this text are not copied.
PREFIX = "migration"
_MARK, _LATER, _POSITION = PREFIX, f"{PREFIX}:later", f"{PREFIX}:position"
# States of the target, then those of the source.
COPYING, COMPARED = "copying", "compared"
CLOSED, MOVED = "closed", "moved"


class Mark(msgspec.Struct):
    # The same in both databases.
    id: str
    state: str
    # In the source: where the data is moved to. In the target: where it comes from.
    other: str
    at: Millis
    # What identifies the key of the installation.
    key_check: str = ""


class Later(msgspec.Struct):
    """Statements that create what the target does not have while rows are copied."""

    indexes: list[str] = []
    # They would refuse rows from different moments. Triggers would change the rows that are copied.
    constraints: list[str] = []
    # The constraints exist, and only the triggers are missing: no row may be copied that refers to
    # one that is not.
    is_constrained: bool = False

    def split(self) -> tuple[list[str], list[str]]:
        """The constraints, and the triggers."""
        triggers = [text for text in self.constraints if text.lower().startswith("create trigger")]
        return [text for text in self.constraints if text not in triggers], triggers


class CopyPosition(msgspec.Struct):
    """How far the copy has come while servers ran: tables that are complete, and the key of the
    last row of the next table."""

    tables: list[str] = []
    key: list[str | int] | None = None
    is_complete: bool = False


def read(tx: Tx) -> Mark | None:
    """Also of a database without tables."""
    if not any(name.startswith("migrations/0001_") for name in list_applied(tx)):
        return None
    text = installation.read(tx, _MARK)
    return None if text is None else msgspec.json.decode(text, type=Mark)


def write(tx: Tx, mark: Mark) -> None:
    installation.write(tx, _MARK, msgspec.json.encode(mark).decode())


def mark_source(tx: Tx, mark: Mark) -> Mark | None:
    """Write the mark of the source, unless it is moved elsewhere; returns the previous mark."""
    before = read(tx)
    if before is not None and before.id != mark.id:
        raise Conflict(
            f"Another `belvedere migrate` has moved this database to {before.other}, or is doing"
            " so. Nothing was changed."
        )
    write(tx, mark)
    return before


def clear(tx: Tx) -> None:
    installation.delete_all(tx, PREFIX)


def read_later(tx: Tx) -> Later:
    text = installation.read(tx, _LATER)
    return Later() if text is None else msgspec.json.decode(text, type=Later)


def write_later(tx: Tx, later: Later) -> None:
    installation.write(tx, _LATER, msgspec.json.encode(later).decode())


def read_position(tx: Tx) -> CopyPosition:
    text = installation.read(tx, _POSITION)
    return CopyPosition() if text is None else msgspec.json.decode(text, type=CopyPosition)


def write_position(tx: Tx, position: CopyPosition) -> None:
    installation.write(tx, _POSITION, msgspec.json.encode(position).decode())


def check_before_use(database: str) -> None:
    """`check_usable` before a server connects to PostgreSQL under its name: servers that are
    refused again and again must not look like one that is running."""
    if is_postgres(database):
        with peek(database) as db:
            db.read(check_usable)


def check_usable(tx: Tx) -> None:
    """Refuse to run a server with this database while it is moved or restored, and after a move."""
    refusal = explain(tx)
    if refusal is not None:
        raise Unavailable(" ".join(refusal))


def explain(tx: Tx) -> tuple[str, str] | None:
    """Why no server may use this database, and what to do."""
    # First: a restore may have locked the other tables.
    refusal = restore_marker.explain(tx)
    if refusal is not None:
        return refusal
    mark = read(tx)
    if mark is None:
        return None
    if mark.state in (COPYING, COMPARED):
        return (
            f"This database is an incomplete copy of {mark.other}.",
            "Run `belvedere migrate` again with the same options: it continues.",
        )
    if mark.state == CLOSED:
        return (
            f"This database is being moved to {mark.other} since {iso(mark.at)}.",
            "If `belvedere migrate` was interrupted, run it again: it continues. To use this"
            " database instead, run `belvedere migrate --reopen`.",
        )
    return (
        f"This database was moved to {mark.other} at {iso(mark.at)}.",
        "Start the server with that database. To use this one instead, run `belvedere migrate"
        " --reopen`: it then counts as a restored backup.",
    )
