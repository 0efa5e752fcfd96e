"""When a host accepts no jobs because of its disk, and when it accepts them again."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from belvedere.agent.disk_space import DiskSpace


class Disk:
    """What the file system reports, and whether a write succeeds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free, self.inodes, self.files = 1000, 1000, 5000
        self.looks = 0
        monkeypatch.setattr(os, "statvfs", self._statvfs)

    def _statvfs(self, _: str) -> SimpleNamespace:
        self.looks += 1
        return SimpleNamespace(
            f_bavail=self.free, f_frsize=1, f_favail=self.inodes, f_files=self.files
        )


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def disk_space(tmp_path: Path, disk: Disk) -> DiskSpace:
    return DiskSpace((str(tmp_path),), 100, 10)


def test_jobs_are_accepted_again_only_above_the_minimum(disk_space: DiskSpace, disk: Disk) -> None:
    states = []
    for disk.free in (100, 99, 100, 149, 150, 100):
        disk_space.refresh()
        states.append(disk_space.message == "")
    assert states == [True, False, False, False, True, True]


def test_inodes_count_where_the_file_system_has_a_number_of_them(
    disk_space: DiskSpace, disk: Disk
) -> None:
    disk.inodes = 9
    disk_space.refresh()
    assert "9 inodes free; 10 are needed" in disk_space.message
    disk.inodes, disk.files = 0, 0
    disk_space.refresh()
    assert disk_space.message == ""


def test_after_a_failed_write_only_a_good_one_counts(
    disk_space: DiskSpace, disk: Disk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    disk_space.fail("Disk quota exceeded")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        disk_space.refresh()
        assert disk_space.message == "Disk quota exceeded"
    disk_space.refresh()
    assert disk_space.message == ""
    assert list(tmp_path.iterdir()) == []


def test_orders_that_come_together_look_at_the_disk_once(disk_space: DiskSpace, disk: Disk) -> None:
    for _ in range(100):
        disk_space.check()
    assert disk.looks == 1


def test_a_folder_that_cannot_be_read_takes_no_work(tmp_path: Path) -> None:
    disk_space = DiskSpace((str(tmp_path / "missing"),))
    disk_space.refresh()
    assert "cannot be read" in disk_space.message


def test_zero_switches_a_limit_off(tmp_path: Path, disk: Disk) -> None:
    disk.free = disk.inodes = 0
    disk_space = DiskSpace((str(tmp_path),), 0, 0)
    disk_space.refresh()
    assert disk_space.message == ""
