"""Backups of SQLite: the database files themselves, as they were at one moment."""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import apsw

from belvedere.base.clock import wall
from belvedere.base.errors import Conflict, NotFound, Unavailable
from belvedere.db.backup.archive import BLOCK, BackupWriter, Report
from belvedere.db.sqlite.connection import connect
from belvedere.db.sqlite.transaction import SqliteTx

PAGES_PER_STEP = 1_000
TABLES = "select name from sqlite_schema where type = 'table' and name not glob 'sqlite_*'"
# What SQLite keeps next to a database and a file alone would lack.
LOGS = ("-wal", "-journal")


@contextmanager
def open_snapshot(sources: Mapping[str, Path]) -> Iterator[dict[str, SqliteTx]]:
    """Read transactions on all files that begin together; servers continue to write."""
    with report_errors("This is not a database of Belvedere"), ExitStack() as stack:
        snapshot = {name: _open(stack, path) for name, path in sources.items()}
        for tx in snapshot.values():
            tx.execute("begin")
            tx.rows("select 1 from sqlite_schema limit 1")
        yield snapshot


@contextmanager
def report_errors(invalid: str) -> Iterator[None]:
    """Errors of SQLite for the command line; `invalid` describes a file that is not a database."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise Unavailable(f"{invalid}: {fault}.") from fault
    except apsw.FullError as fault:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from fault
    except apsw.Error as fault:
        raise Unavailable(f"SQLite reports: {fault}.") from fault


def _open(stack: ExitStack, path: Path) -> SqliteTx:
    if not path.exists():
        raise NotFound(f"No database at {path}; set its folder with --data.")
    connection = stack.enter_context(closing(connect(str(path), readonly=True)))
    return SqliteTx(connection, wall())


def count_rows(snapshot: Mapping[str, SqliteTx]) -> dict[str, int]:
    """The rows of every table in all files; both have a table of migrations."""
    counts: dict[str, int] = {}
    for tx in snapshot.values():
        for (table,) in tx.rows(TABLES):
            counts[table] = counts.get(table, 0) + int(tx.value(f'select count(*) from "{table}"'))
    return counts


def copy_snapshot(snapshot: Mapping[str, SqliteTx], draft: Path, report: Report) -> dict[str, Path]:
    """Copies of the files beside the draft of the backup. Compressing them takes longer than
    copying: meanwhile the transactions would keep the write-ahead logs growing."""
    copies = {name: draft.with_name(f"{draft.name}.{name}") for name in snapshot}
    for name, tx in snapshot.items():
        copies[name].unlink(missing_ok=True)
        copy_database(tx, copies[name], partial(report, f"copy {name}"))
    return copies


def copy_database(tx: SqliteTx, path: Path, report: Callable[[int, int], None]) -> None:
    """To a new private file, which is not synced."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(apsw.Connection(str(path))) as target:
        target.execute("pragma synchronous=off")
        size = int(tx.value("pragma page_size"))
        with target.backup("main", tx.connection, "main") as copy:
            while not copy.done:
                copy.step(PAGES_PER_STEP)
                report((copy.page_count - copy.remaining) * size, copy.page_count * size)


def write_parts(writer: BackupWriter, copies: Mapping[str, Path], report: Report) -> None:
    """Compress the copies into the backup, and delete them."""
    for name, path in copies.items():
        total, done = path.stat().st_size, 0
        with path.open("rb") as file, writer.part(name) as append:
            while block := file.read(BLOCK):
                append(block)
                done += len(block)
                report(f"compress {name}", done, total)
        path.unlink()


def check_empty(targets: Mapping[str, Path]) -> None:
    for path in targets.values():
        check_unused(path)


def check_unused(path: Path) -> None:
    """Refuse a database, and also its write-ahead log alone: it may have the newest data of a file
    that was moved away without it."""
    for name in (path.name, *(path.name + suffix for suffix in LOGS)):
        file = path.with_name(name)
        if file.exists() and file.stat().st_size:
            raise Conflict(
                f"{file} already exists. Move it to another folder first, or restore into an empty"
                " folder (--data).",
            )
