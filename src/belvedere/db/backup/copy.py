"""Writes a database into a backup, and a backup into an empty database, on either engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from belvedere import __version__
from belvedere.base.clock import iso
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import installation
from belvedere.db.backup import restore_marker
from belvedere.db.backup.archive import (
    FORMAT,
    BackupReader,
    BackupWriter,
    Manifest,
    Report,
    newer_version,
)
from belvedere.db.interface import Tx, is_postgres
from belvedere.db.migrate import check_installed, list_applied, migrations

SQLITE, POSTGRES = "sqlite", "postgres"
ENGINE_NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}
# Exists while the files of a SQLite database are restored.
MARKER = "restore.incomplete"


@dataclass(frozen=True, slots=True)
class Location:
    """Where the database of an installation is."""

    # `postgresql://…`, or the path of a SQLite file.
    database: str
    # The data folder.
    folder: Path

    @property
    def engine(self) -> str:
        return POSTGRES if is_postgres(self.database) else SQLITE

    @property
    def engine_name(self) -> str:
        """For people."""
        return ENGINE_NAMES[self.engine]

    @property
    def files(self) -> dict[str, Path]:
        """The files of SQLite by the names of their parts; the main one is first."""
        main = Path(self.database.removeprefix("sqlite://"))
        return {"belvedere.db": main, "logs.db": self.folder / "logs.db"}

    @property
    def marker(self) -> Path:
        return self.folder / MARKER


@dataclass(frozen=True, slots=True)
class BackupSource:
    location: Location
    # The name under which the database identifies its key.
    key_name: str
    # Raises if no server may use the database.
    check_usable: Callable[[Tx], None]


def write_backup(
    source: BackupSource, writer: BackupWriter, draft: Path, report: Report
) -> Manifest:
    if source.location.engine == POSTGRES:
        return _write_postgres(source, writer, report)
    return _write_sqlite(source, writer, draft, report)


def _write_sqlite(
    source: BackupSource, writer: BackupWriter, draft: Path, report: Report
) -> Manifest:
    from belvedere.db.backup import sqlite_files

    with sqlite_files.open_snapshot(source.location.files) as snapshot:
        manifest = _describe(source, list(snapshot.values()))
        manifest.tables = sqlite_files.count_rows(snapshot)
        copies = sqlite_files.copy_snapshot(snapshot, draft, report)
    sqlite_files.write_parts(writer, copies, report)
    return manifest


def _write_postgres(source: BackupSource, writer: BackupWriter, report: Report) -> Manifest:
    from belvedere.db.backup import postgres_tables

    with postgres_tables.open_snapshot(source.location.database) as snapshot:
        manifest = _describe(source, [snapshot])
        manifest.columns, manifest.tables = postgres_tables.write_parts(snapshot, writer, report)
        manifest.sequences = postgres_tables.list_sequences(snapshot)
        return manifest


def _describe(source: BackupSource, databases: Sequence[Tx]) -> Manifest:
    main = databases[0]
    # First: a restore has locked all other tables.
    source.check_usable(main)
    check_installed(main)
    names = {name for tx in databases for name in list_applied(tx)}
    return Manifest(
        FORMAT,
        __version__,
        source.location.engine,
        iso(main.now),
        installation.epoch_of(installation.newest_fence(main)),
        installation.read(main, source.key_name) or "",
        sorted(names),
        {},
    )


def check_fits(location: Location, path: Path, manifest: Manifest) -> None:
    """Refuse a backup of another engine or of a newer version."""
    if manifest.engine != location.engine:
        raise Conflict(
            f"{path} is a backup of {ENGINE_NAMES.get(manifest.engine, manifest.engine)}; it cannot"
            f" be restored into {location.engine_name}. Set --database accordingly.",
        )
    own_names = {
        f"{folder}/{name}"
        for folder in ("migrations", "logs")
        for name, _ in migrations(location.engine, folder)
    }
    if not own_names.issuperset(manifest.migrations):
        raise newer_version(path, manifest.version)


@dataclass(frozen=True, slots=True)
class EarlierRestore:
    """A restore into this location that was interrupted, if there was one."""

    exists: bool = False
    # Whether this restore continues it.
    is_continued: bool = False
    # Whether it has checked this backup, which has not changed since.
    is_checked: bool = False


def check_empty(location: Location, reader: BackupReader) -> EarlierRestore:
    """Refuse a location with data, except that of an interrupted restore."""
    if location.engine == POSTGRES:
        from belvedere.db.backup import postgres_restore

        source = postgres_restore.check_target(location.database, reader)
        if source is None:
            return EarlierRestore()
        return EarlierRestore(True, True, source.is_checked(reader))
    from belvedere.db.backup import sqlite_restore

    sqlite_restore.check_targets(location.files, location.marker)
    fits = restore_marker.read(location.marker).fits(reader)
    return EarlierRestore(location.marker.exists(), fits, fits)


def load_backup(
    location: Location, reader: BackupReader, finish: Callable[[Tx], int], report: Report
) -> int:
    """Write everything; `finish` is the last operation before the database is complete."""
    if location.engine == POSTGRES:
        from belvedere.db.backup import postgres_restore

        return postgres_restore.restore_tables(location.database, reader, finish, report)
    from belvedere.db.backup import sqlite_restore

    return sqlite_restore.restore_files(reader, location.files, location.marker, finish, report)


def check_complete(location: Location) -> None:
    """Refuse to start a server with the files of an interrupted restore."""
    if location.marker.exists():
        raise Unavailable(
            f"A restore into {location.folder} was interrupted; its database is not complete."
            " Run `belvedere restore` again: it continues. If you have put other database files"
            f" there since, remove {location.marker} instead.",
        )
