"""`belvedere upgrade --check` on the command line."""

import asyncio
import json
from pathlib import Path

import pytest

from belvedere.db.sqlite.database import Sqlite
from belvedere.server.wiring import build
from belvedere.settings import Settings
from cli.conftest import Belvedere


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    runtime = build(Settings(data=str(folder)))
    asyncio.run(runtime.db.close())
    asyncio.run(runtime.logs.close())
    return folder


def change(data: Path, statement: str) -> None:
    db = Sqlite(data / "belvedere.db")
    db.write_blocking(lambda tx: tx.execute(statement))
    asyncio.run(db.close())


def test_a_ready_installation(anonymous: Belvedere, data: Path) -> None:
    change(data, "delete from migrations where name like '%0177%'")
    ran = anonymous("upgrade", "--check", "--data", str(data))
    assert (ran.status, ran.err) == (0, "")
    assert "migrations/0177_job_traces" in ran.out and "Ready:" in ran.out


def test_something_to_do_exits_with_1(anonymous: Belvedere, data: Path) -> None:
    change(data, "insert into migrations values ('migrations/9999_future', 0)")
    ran = anonymous("upgrade", "--check", "--data", str(data))
    assert (ran.status, "Not ready" in ran.out) == (1, True)
    ran = anonymous("upgrade", "--check", "--data", str(data), "--json")
    report = json.loads(ran.out)
    assert (report["ready"], report["unknown"]) == (False, ["migrations/9999_future"])


def test_upgrade_needs_its_option_and_a_database(anonymous: Belvedere, tmp_path: Path) -> None:
    assert anonymous("upgrade").status == 2
    assert anonymous("upgrade", "--check", "--data", str(tmp_path)).status == 1
    assert list(tmp_path.iterdir()) == []
