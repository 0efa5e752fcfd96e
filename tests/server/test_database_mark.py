"""A database file that another program put in place is noticed at the start; nothing else is."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest

from belvedere.db.backup.copy import Location
from belvedere.db.migrate import migrate, open_database
from belvedere.server import database_mark

DATABASE = "belvedere.db"


async def start(folder: Path, *, is_killed_after: int | None = None) -> bool:
    """As a server does; whether it treated the database as a restored one."""
    location = Location(str(folder / DATABASE), folder)
    db = open_database(location.database)
    migrate(db)
    try:
        is_replaced = await database_mark.is_replaced(db, location)
        with mock.patch("belvedere.server.database_mark.os.fsync", _Killer(is_killed_after)):
            await database_mark.renew(db, location)
    except ProcessDeath:
        pass
    finally:
        await db.close()
    return is_replaced


class ProcessDeath(BaseException):
    """The process ends here."""


class _Killer:
    def __init__(self, countdown: int | None) -> None:
        self._countdown = countdown

    def __call__(self, fd: int) -> None:
        if self._countdown is not None:
            self._countdown -= 1
            if self._countdown < 0:
                raise ProcessDeath


def copy_database(folder: Path, to: Path) -> None:
    """By another program; into a new file."""
    to.parent.mkdir(exist_ok=True)
    to.unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / DATABASE)) as source:
        source.execute("vacuum into ?", (str(to),))


async def test_a_start_in_the_same_folder_is_no_restore(tmp_path: Path) -> None:
    assert [await start(tmp_path) for _ in range(3)] == [False, False, False]
    assert (tmp_path / database_mark.FILE).stat().st_mode & 0o777 == 0o600


async def test_a_start_that_is_killed_is_no_restore(tmp_path: Path) -> None:
    await start(tmp_path)
    for countdown in range(5):
        assert not await start(tmp_path, is_killed_after=countdown)
        assert not await start(tmp_path)


async def test_a_database_in_a_new_folder_is_restored(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    await start(old)
    copy_database(old, new / DATABASE)
    assert await start(new)
    assert not await start(new)


async def test_an_older_database_in_the_same_folder_is_restored(tmp_path: Path) -> None:
    await start(tmp_path)
    copy = tmp_path / "copies" / DATABASE
    copy_database(tmp_path, copy)
    await start(tmp_path)
    # The same file with other content.
    shutil.copyfile(copy, tmp_path / DATABASE)
    assert await start(tmp_path)
    assert not await start(tmp_path)


async def test_another_file_from_the_same_run_is_restored(tmp_path: Path) -> None:
    await start(tmp_path)
    if not _has_attributes(tmp_path):
        pytest.skip("this file system stores no attributes")
    copy = tmp_path / "copies" / DATABASE
    copy_database(tmp_path, copy)
    copy.replace(tmp_path / DATABASE)
    assert await start(tmp_path)
    assert not await start(tmp_path)


async def test_a_copy_of_the_whole_folder_is_the_same(tmp_path: Path) -> None:
    """Also one without the attributes."""
    old = tmp_path / "old"
    old.mkdir()
    await start(old)
    for name, copy in (("with", shutil.copy2), ("without", shutil.copyfile)):
        shutil.copytree(old, tmp_path / name, copy_function=copy)
        assert not await start(tmp_path / name)


def _has_attributes(folder: Path) -> bool:
    return bool(os.listxattr(folder / DATABASE))
