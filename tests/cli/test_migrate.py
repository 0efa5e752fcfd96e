"""`belvedere migrate` as an operator types it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
from belvedere.base import failpoints
from belvedere.cli.server import migrate
from cli.conftest import Belvedere


@pytest.fixture
def data(tmp_path: Path, sqlite_template: Path, sqlite_logs_template: Path) -> Path:
    """The data folder of a server that is not running."""
    shutil.copyfile(sqlite_template, tmp_path / "belvedere.db")
    shutil.copyfile(sqlite_logs_template, tmp_path / "logs.db")
    return tmp_path


@pytest.fixture
def url(postgres_template: str) -> Iterator[str]:
    """An empty PostgreSQL database."""
    with engines.postgres_copy(postgres_template) as url:
        engines.empty_postgres(url)
        yield url


def test_migrate_continues_after_sigkill_and_moves_back(
    anonymous: Belvedere, data: Path, url: str
) -> None:
    words = ("migrate", "--to", url, "--data", str(data))
    process = subprocess.run(
        [sys.executable, "-m", "belvedere.cli.main", *words],
        env={**os.environ, failpoints.VARIABLE: "migrate compared"},
        capture_output=True,
        timeout=120,
    )
    assert process.returncode == -signal.SIGKILL, process
    result = anonymous(*words)
    assert result.status == 0, result
    assert "the row counts and checksums of all tables are equal" in result.out
    result = anonymous("migrate", "--to", "sqlite", "--data", str(data), "--database", url)
    assert (result.status, "Move belvedere.db and logs.db, with" in result.err) == (1, True)
    for file in [*data.glob("belvedere.db*"), *data.glob("logs.db*")]:
        file.rename(data / f"old-{file.name}")
    back = ("migrate", "--to", "sqlite", "--data", str(data), "--database", url)
    assert "Run the command again without --copy-only" in anonymous(*back, "--copy-only").out
    result = anonymous(*back, "--json")
    assert (result.status, json.loads(result.out)["is_complete"]) == (0, True), result
    assert (data / "belvedere.db").stat().st_mode & 0o777 == 0o600
    result = anonymous("migrate", "--reopen", "--data", str(data), "--database", url)
    assert "What happened since it was moved is only in" in result.out
    assert "It holds jobs that may have run since the migration." in result.out


def test_migrate_asks_once_to_stop_the_server(
    anonymous: Belvedere, data: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = engines.open_fast(str(data / "belvedere.db"))
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            engines.close(server)

    monkeypatch.setattr(migrate, "sleep", wait)
    monkeypatch.setattr(migrate, "LINE_S", 0.0)
    result = anonymous("migrate", "--to", url, "--data", str(data))
    assert (result.status, result.err.count("Stop the server now")) == (0, 1)
    assert "copy job_moves" not in result.err
    assert "update jobs: " in result.err and "checksum jobs: " in result.err
    findings = json.loads(anonymous("doctor", "--data", str(data), "--json").out)
    assert "was moved to postgresql://" in findings[0]["found"]


@pytest.mark.parametrize("words", [(), ("--to", "sqlite", "--reopen")])
def test_wrong_usage_is_reported(anonymous: Belvedere, words: tuple[str, ...]) -> None:
    result = anonymous("migrate", *words)
    assert (result.status, "Use either --to or --reopen." in result.err) == (2, True)
