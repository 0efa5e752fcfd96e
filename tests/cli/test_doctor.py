"""`belvedere doctor` on the command line."""

import asyncio
import json
from pathlib import Path

import pytest

from belvedere.server.wiring import build
from belvedere.settings import Settings
from cli.conftest import Belvedere


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a server that has run once."""
    folder = tmp_path / "data"
    runtime = build(Settings(data=str(folder)))
    asyncio.run(runtime.db.close())
    asyncio.run(runtime.logs.close())
    return folder


def test_a_sound_installation_has_no_problem(anonymous: Belvedere, data: Path) -> None:
    ran = anonymous("doctor", "--data", str(data))
    assert (ran.status, ran.err) == (0, "")
    assert "✓ ok" in ran.out and "problem" not in ran.out


def test_a_problem_makes_it_fail_and_says_what_to_do(anonymous: Belvedere, data: Path) -> None:
    data.chmod(0o755)
    ran = anonymous("doctor", "--data", str(data))
    assert ran.status == 1
    assert f"chmod 700 {data}" in ran.out


def test_programs_get_json(anonymous: Belvedere, data: Path) -> None:
    ran = anonymous("doctor", "--data", str(data), "--json")
    findings = json.loads(ran.out)
    assert [item["check"] for item in findings if item["verdict"] != "ok"] == ["backup"]


def test_a_folder_without_a_database_is_reported(anonymous: Belvedere, tmp_path: Path) -> None:
    ran = anonymous("doctor", "--data", str(tmp_path))
    assert ran.status == 1
    assert "No database at" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://host:a b/?x", "not the address of a PostgreSQL database"),
        ("postgresql://belvedere@127.0.0.1:1/x", "port 1 failed: Connection refused"),
        ("mysql://belvedere:secret@host/x", "or the path of a SQLite file, not mysql://…."),
    ],
)
def test_a_wrong_database_is_reported_with_the_reason(
    anonymous: Belvedere, tmp_path: Path, address: str, reason: str
) -> None:
    for words in (["doctor"], ["upgrade", "--check"], ["server", "--port", "0"]):
        ran = anonymous(*words, "--data", str(tmp_path), "--database", address)
        assert ran.status in (1, 3)
        assert reason in ran.err and len(ran.err.splitlines()) == 1
        assert "secret" not in ran.err


@pytest.mark.parametrize("words", [("mark-restored",), ("key", "rotate"), ("key", "show")])
def test_commands_of_the_operator_create_no_database(
    anonymous: Belvedere, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The operator has mistyped the folder."""
    ran = anonymous(*words, "--data", str(tmp_path / "tpyo"))
    assert (ran.status, "No database at" in ran.err) == (1, True)
    assert list(tmp_path.iterdir()) == []
