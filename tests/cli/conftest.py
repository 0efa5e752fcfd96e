"""A fake server, and the command line run against it in this process."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import fake_server
from belvedere.cli.main import main


class CommandResult(NamedTuple):
    status: int
    out: str
    err: str


Belvedere = Callable[..., CommandResult]


@pytest.fixture
def server() -> Iterator[fake_server.FakeServer]:
    yield from fake_server.run_server()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No login, and no environment of the person who runs the tests."""
    for name in ("SERVER", "TOKEN", "CUSTOMER", "CA_FILE", "DATA", "DATABASE"):
        monkeypatch.delenv(f"BELVEDERE_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


@pytest.fixture
def anonymous(home: Path, capsys: pytest.CaptureFixture[str]) -> Belvedere:
    """Runs a command without a login."""

    def run(*words: str, stdin: str = "") -> CommandResult:
        before, sys.stdin = sys.stdin, io.StringIO(stdin)
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            sys.stdin = before
        return CommandResult(status, *capsys.readouterr())

    return run


@pytest.fixture
def belvedere(
    anonymous: Belvedere, server: fake_server.FakeServer, monkeypatch: pytest.MonkeyPatch
) -> Belvedere:
    """Runs a command with a login at the fake server."""
    monkeypatch.setenv("BELVEDERE_SERVER", server.url)
    monkeypatch.setenv("BELVEDERE_TOKEN", "bvt_secret")
    return anonymous
