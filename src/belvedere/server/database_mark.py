"""Detects that the file of a SQLite database was replaced, by a restore that did not mark it.

At each start, the server writes a new mark into the database and into a file in the data folder. A
restore by another program, such as Litestream, replaces the database and not the file: then they
differ, or the file is missing. If the restored database has the mark of the last run, an attribute
of its file shows that it is another file; not every file system stores these.
"""

import contextlib
import os
import secrets
from pathlib import Path

from belvedere.db import Database, installation
from belvedere.db.backup.archive import sync_folder
from belvedere.db.backup.copy import Location

FILE = "database.mark"
_NAME = "database_mark"
_ATTRIBUTE = "user.belvedere.mark"


async def is_replaced(db: Database, location: Location) -> bool:
    """Whether a server last ran on another file, or in another data folder."""
    stored = await db.write(installation.read, _NAME)
    if db.dialect.is_shared or stored is None:
        return False
    file = location.folder / FILE
    marks = file.read_text().split() if file.exists() else []
    return stored not in marks or _is_other_file(_main_file(location), file)


async def renew(db: Database, location: Location) -> None:
    """A process that is killed at any point leaves a file that names the mark of the database."""
    if db.dialect.is_shared:
        # A copy of it in SQLite would otherwise have the mark of a former folder.
        await db.write(installation.delete, _NAME)
        return
    stored = await db.write(installation.read, _NAME)
    mark, file = secrets.token_hex(16), location.folder / FILE
    _write(file, f"{mark} {stored or ''}\n")
    await db.write(installation.write, _NAME, mark)
    _write(file, f"{mark}\n")
    # The file comes last: only its attribute shows that the database's should have one.
    with contextlib.suppress(OSError, AttributeError):
        for path in (_main_file(location), file):
            os.setxattr(path, _ATTRIBUTE, mark.encode())


def _main_file(location: Location) -> Path:
    return next(iter(location.files.values()))


def _is_other_file(database: Path, file: Path) -> bool:
    expected = _attribute(file)
    return expected is not None and _attribute(database) != expected


def _attribute(path: Path) -> bytes | None:
    # macOS has no such function.
    with contextlib.suppress(OSError, AttributeError):
        return os.getxattr(path, _ATTRIBUTE)
    return None


def _write(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.new")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
    sync_folder(file.parent)
