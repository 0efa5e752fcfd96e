"""`belvedere backup` and `belvedere restore` on the command line."""

import json
import shutil
from pathlib import Path

import pytest

import engines
from belvedere.access.crypto import key_file
from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.cli.framework import terminal
from belvedere.server.backup import rotation
from cli.conftest import Belvedere


@pytest.fixture
def data(tmp_path: Path, sqlite_template: Path, sqlite_logs_template: Path) -> Path:
    """The data folder of a server that is not running."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.copyfile(sqlite_template, folder / "belvedere.db")
    shutil.copyfile(sqlite_logs_template, folder / "logs.db")
    (folder / SECRET_FILE).write_text("0" * 64)
    (folder / SECRET_FILE).chmod(0o600)
    db = engines.open_fast(str(folder / "belvedere.db"))
    db.write_blocking(key_file.load(folder).keys.verify_database)
    engines.close(db)
    return folder


def test_a_backup_is_written_and_restored(anonymous: Belvedere, data: Path, tmp_path: Path) -> None:
    target = tmp_path / "belvedere.zip"
    result = anonymous("backup", str(target), "--data", str(data))
    assert (result.status, f"another place: {data / SECRET_FILE}" in result.out) == (0, True)
    steps = [line.partition(" (")[0] for line in result.err.splitlines()]
    files = ("belvedere.db", "logs.db")
    assert steps == [f"{step} {name}" for step in ("copy", "compress") for name in files]
    result = anonymous("restore", str(target), "--data", str(tmp_path / "new"))
    assert result.status == 0, result
    assert "epoch 2" in result.out
    assert f"1. Copy the key of this installation to {tmp_path / 'new' / SECRET_FILE}" in result.out


def test_the_key_is_included_and_restored(anonymous: Belvedere, data: Path, tmp_path: Path) -> None:
    target, passphrase = tmp_path / "belvedere.zip", "four plain words here\n"
    words = ("backup", str(target), "--include-key", "--data", str(data), "--json")
    result = anonymous(*words, stdin=passphrase)
    assert (result.status, json.loads(result.out)["key"]) == (0, "")
    again = ("restore", str(target), "--data", str(tmp_path / "new"), "--json")
    result = anonymous(*again, stdin="\n")
    text = "belvedere: Passphrase of the key in the backup: no value was entered.\n"
    assert (result.status, result.err) == (1, text)
    result = anonymous(*again, stdin=passphrase)
    assert (result.status, json.loads(result.out)["missing_key"]) == (0, "")
    assert (tmp_path / "new" / SECRET_FILE).stat().st_mode & 0o777 == 0o600


def test_old_backups_are_deleted(anonymous: Belvedere, data: Path, tmp_path: Path) -> None:
    words = ("backup", str(tmp_path / "night.zip"), "--keep", "1", "--data", str(data))
    assert anonymous(*words).status == 0
    [first] = tmp_path.glob("night-*.zip")
    first.rename(tmp_path / "night-20260101T000000Z.zip")
    assert "night-20260101T000000Z.zip: deleted" in anonymous(*words).out
    assert len(list(tmp_path.glob("night-*.zip"))) == 1


def test_repeated_backups_report_errors_and_continue(
    anonymous: Belvedere, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            (tmp_path / "backups").mkdir()
        if len(waits) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(rotation, "sleep", wait)
    target = tmp_path / "backups" / "night.zip"
    result = anonymous("backup", str(target), "--every", "1h", "--data", str(data))
    assert result.status == 130
    assert f"There is no folder {target.parent}" in result.err
    assert str(tmp_path / "backups" / "night-") in result.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--every", "1s"), "at least 1m"),
        (("--every", "often"), "not a duration"),
        (("--keep", "0"), "at least 1"),
    ],
)
def test_wrong_usage_is_reported(
    anonymous: Belvedere, data: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    result = anonymous("backup", str(tmp_path / "a.zip"), *words, "--data", str(data))
    assert (result.status, message in result.err) == (2, True)


def test_errors_are_one_line(anonymous: Belvedere, data: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("text")
    result = anonymous("restore", str(tmp_path / "text.zip"), "--data", str(tmp_path / "new"))
    text = f"belvedere: {tmp_path / 'text.zip'} is not a complete backup"
    assert (result.status, result.err.startswith(text)) == (1, True)
    assert len(result.err.splitlines()) == 1
    result = anonymous("restore", str(tmp_path / "none.zip"), "--data", str(tmp_path / "new"))
    assert (result.status, "No such file" in result.err) == (1, True)


def test_sizes_are_readable() -> None:
    texts = [terminal.format_size(count) for count in (12, 12_345, 12_345_678, 12_345_678_901)]
    assert texts == ["12 bytes", "12.3 kB", "12.3 MB", "12.3 GB"]
