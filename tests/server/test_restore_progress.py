"""The progress of a restore: every step from its beginning to its end."""

import itertools
from pathlib import Path

import pytest

from belvedere.bench.measure.fixture import Fixture
from belvedere.cli.server import backup
from belvedere.db.backup import archive
from belvedere.db.backup.archive import open_backup
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
        parts = [(part.name, part.size) for part in reader.manifest.parts if part.size]
    check_bytes(steps, [(f"verify {name}", size) for name, size in parts])
    check_bytes(steps, parts)
    others = list(steps)[2 * len(parts) :]
    assert others == (["indexes", "analyze"] if empty.database else [])
    for name in others:
        total = steps[name][-1][1]
        assert steps[name] == [(number, total) for number in range(1, total + 1)]


def check_bytes(steps: dict[str, list[tuple[int, int]]], parts: list[tuple[str, int]]) -> None:
    """Each part in blocks, up to its size."""
    for name, size in parts:
        amounts = [done for done, _ in steps[name]]
        assert {total for _, total in steps[name]} == {size}
        assert amounts == [*range(SMALL_BLOCK, size, SMALL_BLOCK), size]


def test_the_steps_of_the_command_have_units(
    source: Path, empty: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with backup._progress() as report:
        restore_backup(empty, source, str, report)
    lines = {line.partition(" (")[0]: line for line in capsys.readouterr().err.splitlines()}
    name = "tables/jobs.copy" if empty.database else "belvedere.db"
    assert " of " in lines[name] and "B" in lines[name].partition(" of ")[2]
    assert f"verify {name}" in lines
    if empty.database:
        assert lines["indexes"].endswith(" indexes)") and lines["analyze"].endswith(" steps)")
