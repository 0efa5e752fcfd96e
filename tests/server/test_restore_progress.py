"""The progress of a restore: every step from its beginning to its end."""

import itertools
from itertools import pairwise
from pathlib import Path

import pytest

from belvedere.bench.measure.fixture import Fixture
from belvedere.cli.server import backup
from belvedere.db.backup import archive
from belvedere.db.backup.archive import open_backup
from belvedere.server.backup.create import back_up
from belvedere.server.backup.load import restore_backup
from belvedere.settings import Settings
from server.test_backup import empty, place, settings, write

__all__ = ["empty", "place", "settings"]
SMALL_BLOCK = 4_096


@pytest.fixture
def source(
    settings: Settings, place: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A backup that is read in many blocks."""
    write(settings, tmp_path / "backup.zip")
    monkeypatch.setattr(archive, "BLOCK", SMALL_BLOCK)
    return tmp_path / "backup.zip"


def test_every_step_is_reported_until_its_end(source: Path, empty: Settings) -> None:
    reports: list[tuple[str, int, int]] = []
    restore_backup(empty, source, str, lambda *report: reports.append(report))
    steps = {
        name: [(done, total) for _, done, total in group]
        for name, group in itertools.groupby(reports, lambda report: report[0])
    }
    with open_backup(source) as reader:
        sizes = {part.name: part.size for part in reader.manifest.parts}
    check_bytes(steps["verify"], sum(sizes.values()))
    if empty.database:
        assert [*steps] == ["verify", "tables", "indexes", "analyze", "keys"]
        check_bytes(steps["tables"], sum(sizes.values()))
        for name in ("indexes", "analyze", "keys"):
            total = steps[name][-1][1]
            assert steps[name] == [(number, total) for number in range(1, total + 1)]
    else:
        assert [*steps] == ["verify", *sizes]
        for name, size in sizes.items():
            check_bytes(steps[name], size)


def check_bytes(amounts: list[tuple[int, int]], size: int) -> None:
    """In small blocks, up to the end."""
    numbers = [0, *(done for done, _ in amounts)]
    assert {total for _, total in amounts} == {size}
    assert all(0 < after - before <= SMALL_BLOCK for before, after in pairwise(numbers))
    assert numbers[-1] == size


def test_a_backup_reports_its_progress_until_its_end(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    reports: list[tuple[str, int, int]] = []
    back_up(settings, tmp_path / "backup.zip", lambda *report: reports.append(report))
    files = ("belvedere.db", "logs.db")
    steps = [f"{step} {name}" for step in ("copy", "compress") for name in files]
    assert [*dict.fromkeys(name for name, *_ in reports)] == (
        ["tables"] if settings.database else steps
    )
    amounts = [done for name, done, _ in reports if name == reports[-1][0]]
    assert amounts == sorted(amounts) and 0 < amounts[-1] <= reports[-1][2]


def test_the_steps_of_the_command_have_units(
    source: Path, empty: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with backup._progress() as report:
        restore_backup(empty, source, str, report)
    lines = {line.partition(" (")[0]: line for line in capsys.readouterr().err.splitlines()}
    name = "tables" if empty.database else "belvedere.db"
    assert " of " in lines[name] and "B" in lines[name].partition(" of ")[2]
    assert "verify" in lines
    if empty.database:
        units = {name: lines[name].split()[-1] for name in ("indexes", "analyze", "keys")}
        assert units == {"indexes": "indexes)", "analyze": "tables)", "keys": "keys)"}
