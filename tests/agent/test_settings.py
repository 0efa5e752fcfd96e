"""The options of the agent."""

import io
import sys
from pathlib import Path

import pytest

from belvedere.agent.setup.settings import AgentSettings, parse

SERVER = ["--server", "https://belvedere.example.org/"]


def test_options_are_read() -> None:
    words = [*SERVER, "--token", "bve_1", "--state", "/s", "--hostname", "web", "--slots", "4"]
    agent_settings = parse([*words, "--tls-ca", "/ca.pem"], {})
    assert agent_settings == AgentSettings(
        "https://belvedere.example.org", "/s", "web", "bve_1", 4, "/ca.pem"
    )


def test_the_token_can_stay_out_of_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("bve_file\n")
    assert parse([*SERVER, "--token-file", str(tmp_path / "token")], {}).token == "bve_file"
    monkeypatch.setattr(sys, "stdin", io.StringIO("bve_stdin\n"))
    assert parse([*SERVER, "--token-file", "-"], {}).token == "bve_stdin"
    assert parse(SERVER, {"BELVEDERE_ENROLMENT_TOKEN": "bve_env"}).token == "bve_env"


@pytest.mark.parametrize(
    ("server", "is_unprotected"),
    [
        ("http://belvedere.example.org", True),
        ("http://10.0.0.5:8420", True),
        ("http://127.0.0.1.evil.example:8420", True),
        ("http://[::1]:8420", False),
        ("http://127.0.0.1:8420", False),
        ("http://localhost:8420", False),
        ("https://belvedere.example.org", False),
    ],
)
def test_plain_http_to_another_machine_is_unprotected(server: str, is_unprotected: bool) -> None:
    assert parse(["--server", server], {}).is_unprotected == is_unprotected


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--server", "belvedere.example.org"], "http://"),
        ([*SERVER, "--slots", "0"], "1 to 1000"),
        ([*SERVER, "--token-file", "/no/such/file"], "cannot be read"),
        ([], "--server"),
        ([*SERVER, "--log-format", "xml"], "text, json"),
    ],
)
def test_invalid_settings_are_refused(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(words, {})
    assert says in capsys.readouterr().err


def test_the_form_of_the_log_comes_from_an_option_or_a_variable() -> None:
    environ = {"BELVEDERE_LOG_FORMAT": "json", "BELVEDERE_LOG_LEVEL": "DEBUG"}
    agent_settings = parse(SERVER, environ)
    assert (agent_settings.log_format, agent_settings.log_level) == ("json", "debug")
    words = [*SERVER, "--log-format", "text", "--log-level", "error"]
    agent_settings = parse(words, environ)
    assert (agent_settings.log_format, agent_settings.log_level) == ("text", "error")


def test_there_is_no_way_to_skip_tls(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse([*SERVER, "--insecure"], {})
    assert "unrecognized" in capsys.readouterr().err
