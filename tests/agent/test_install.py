"""The agent as a service: its unit, and how systemd reads it."""

import subprocess
import sys
from pathlib import Path

import pytest

from belvedere.agent.setup import enrolment, install
from belvedere.agent.setup.enrolment import Credential, Unreachable
from belvedere.agent.setup.settings import AgentSettings, parse
from belvedere.agent.state_folder import prepare


def settings(tmp_path: Path, *words: str) -> AgentSettings:
    texts = ["install", "--server", "http://127.0.0.1:9", "--state", str(tmp_path / "state")]
    return parse([*texts, "--units", str(tmp_path / "units"), *words], {})


def save_enrolment(tmp_path: Path) -> None:
    enrolment.save(prepare(str(tmp_path / "state")), Credential("bva_x", "h1", "acme", "web"))


def test_the_unit_contains_the_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_enrolment(tmp_path)
    assert install.install(settings(tmp_path, "--hostname", "web", "--slots", "3")) == 0
    unit = (tmp_path / "units" / "belvedere-agent.service").read_text()
    (command,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    words = command.removeprefix("ExecStart=").split()
    assert words[:3] == [sys.executable, "-m", "belvedere.agent"]
    assert words[3:] == [
        *("--server", "http://127.0.0.1:9", "--state", str(tmp_path / "state")),
        *("--hostname", "web", "--slots", "3"),
    ]
    assert "KillMode=process" in unit and "Restart=always" in unit
    assert "bva_" not in unit
    assert "web is enrolled" in capsys.readouterr().out


def test_the_unit_keeps_the_form_of_the_log(tmp_path: Path) -> None:
    words = ("--log-format", "json", "--log-level", "debug")
    text = install.unit_text(["agent"], settings(tmp_path, *words))
    assert "--log-level debug --log-format json" in text


def test_the_unit_runs_an_agent(tmp_path: Path) -> None:
    save_enrolment(tmp_path)
    install.install(settings(tmp_path))
    unit = (tmp_path / "units" / "belvedere-agent.service").read_text()
    command = unit.partition("ExecStart=")[2].partition(" --server")[0].split()
    process = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert process.returncode == 0 and "--server" in process.stdout


def test_an_unreachable_server_is_reported_and_no_unit_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(*_: object) -> Credential:
        raise Unreachable("nobody answers")

    monkeypatch.setattr(enrolment, "enrol", nobody)
    assert install.install(settings(tmp_path, "--token", "bve_x")) == 1
    assert "nobody answers" in capsys.readouterr().err
    assert not (tmp_path / "units").exists()


def test_installing_without_a_token_explains_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.install(settings(tmp_path)) == 1
    assert "BELVEDERE_ENROLMENT_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/opt/x-1_a.pyz", "/opt/x-1_a.pyz"),
        ("https://h:1/p", "https://h:1/p"),
        ("with space", '"with space"'),
        ("50%", "50%%"),
        ("$HOME", "$$HOME"),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("a;b", '"a;b"'),
    ],
)
def test_words_are_quoted_as_systemd_reads_them(word: str, written: str) -> None:
    assert install.quoted(word) == written


def test_plain_http_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_enrolment(tmp_path)
    install.install(settings(tmp_path, "--server", "http://belvedere.example.org"))
    assert "is not encrypted" in capsys.readouterr().err
    install.install(settings(tmp_path))
    assert "is not encrypted" not in capsys.readouterr().err
