"""A restore into SQLite that is killed at any point, and repeated."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from belvedere.base.errors import Unavailable
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database
from belvedere.server.backup.load import RestoreRecord, restore_backup
from belvedere.server.wiring import open_databases
from belvedere.settings import Settings
from server.test_backup import (
    check_with_doctor,
    empty,
    kill_restore,
    place,
    rows_of,
    settings,
    use,
    write,
)

__all__ = ["empty", "place", "settings"]
SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
# The two files of SQLite, in the order in which they are extracted.
PARTS = ("belvedere.db", "logs.db")


def repeat(settings: Settings, source: Path) -> tuple[RestoreRecord, set[str]]:
    """Returns the steps too."""
    steps: set[str] = set()
    record = restore_backup(settings, source, str, lambda step, *_: steps.add(step))
    return record, steps


def check_restored(
    settings: Settings, place: Fixture, restored: Settings, record: RestoreRecord
) -> None:
    """As if nothing had happened in between: the epoch is raised once."""
    assert record.epoch == 2
    assert rows_of(restored) == rows_of(settings)
    assert not [*restored.folder.glob("*.restoring*"), *restored.folder.glob("restore.*")]
    check_with_doctor(restored)
    use(settings, place, restored)


@SQLITE
@pytest.mark.parametrize(
    ("point", "extracted"),
    [
        ("restore block", set(PARTS)),
        ("restore part", {"logs.db", "check belvedere.db"}),
        ("restore part:2", {"check belvedere.db", "check logs.db"}),
        ("restore extracted", {"check belvedere.db", "check logs.db"}),
        # The last operation is in the write-ahead log, which is removed.
        ("restore committed", {"check belvedere.db", "check logs.db"}),
        # The last operation was written to the file, which is extracted again.
        ("restore finished", {"belvedere.db", "check logs.db"}),
        ("restore renamed", set()),
        ("restore renamed:2", set()),
    ],
)
def test_a_killed_restore_continues(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    point: str,
    extracted: set[str],
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", point)
    with pytest.raises(Unavailable, match="interrupted.*it continues"):
        open_databases(empty)
    record, steps = repeat(empty, tmp_path / "backup.zip")
    assert record.is_continued and steps == extracted
    check_restored(settings, place, empty, record)


@SQLITE
@pytest.mark.parametrize("point", ["restore part", "restore renamed"])
def test_a_restore_of_another_file_starts_over(
    settings: Settings, place: Fixture, db: Database, empty: Settings, tmp_path: Path, point: str
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", point)
    db.write_blocking(fixture.create, place)
    write(settings, tmp_path / "newer.zip")
    record, steps = repeat(empty, tmp_path / "newer.zip")
    assert (record.is_continued, record.is_repeated) == (False, True)
    assert {"verify", *PARTS} <= steps
    check_restored(settings, place, empty, record)


@SQLITE
def test_a_file_that_was_replaced_is_checked_again(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    """Also if its manifest is the same."""
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", "restore part")
    content = (tmp_path / "backup.zip").read_bytes()
    (tmp_path / "backup.zip").unlink()
    (tmp_path / "backup.zip").write_bytes(content)
    record, steps = repeat(empty, tmp_path / "backup.zip")
    assert not record.is_continued and "verify" in steps
    check_restored(settings, place, empty, record)


def damage(path: Path) -> None:
    """The content only: the file is the same, and so is its time."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(status.st_size // 2)
        file.write(b"damaged")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@SQLITE
@pytest.mark.parametrize("change", [damage, Path.unlink])
def test_an_unfinished_file_that_was_changed_is_extracted_again(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    change: Callable[[Path], None],
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", "restore extracted")
    change(empty.folder / "belvedere.db.restoring")
    record, steps = repeat(empty, tmp_path / "backup.zip")
    assert record.is_continued and {"belvedere.db", "check logs.db"} <= steps
    check_restored(settings, place, empty, record)


@SQLITE
def test_a_complete_file_that_is_missing_is_restored_again(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", "restore renamed")
    (empty.folder / "belvedere.db.restoring").unlink()
    record, steps = repeat(empty, tmp_path / "backup.zip")
    assert set(PARTS) == steps
    check_restored(settings, place, empty, record)
