"""The server and the credential: from options, environment, login, in this order."""

import json
import stat
from argparse import Namespace
from pathlib import Path

import pytest

from belvedere.cli.framework import profile
from belvedere.cli.framework.command import CommandError
from belvedere.cli.framework.profile import LoginProfile

LOGIN = LoginProfile("https://one.example", "acme", "bvs_login")


def arguments(**given: str) -> Namespace:
    return Namespace(**{"server": None, "customer": None, "ca_file": None, **given})


def test_a_saved_login_is_used(home: Path) -> None:
    profile.save(LOGIN)
    assert profile.current(arguments()) == LOGIN


def test_the_file_is_for_its_owner_only(home: Path) -> None:
    profile.save(LOGIN)
    profile.save(LOGIN)
    path = home / "belvedere" / "config.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text())["token"] == "bvs_login"
    assert [file.name for file in path.parent.iterdir()] == ["config.json"]


def test_the_environment_wins_over_the_login(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile.save(LOGIN)
    monkeypatch.setenv("BELVEDERE_SERVER", "https://two.example/")
    monkeypatch.setenv("BELVEDERE_TOKEN", "bvt_env")
    monkeypatch.setenv("BELVEDERE_CUSTOMER", "globex")
    assert profile.current(arguments()) == LoginProfile("https://two.example", "globex", "bvt_env")


def test_an_option_wins_over_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELVEDERE_SERVER", "https://two.example")
    monkeypatch.setenv("BELVEDERE_CUSTOMER", "globex")
    login_profile = profile.current(arguments(server="https://three.example", customer="initech"))
    assert (login_profile.server, login_profile.customer) == ("https://three.example", "initech")


def test_a_credential_is_never_shown_to_another_server(home: Path) -> None:
    profile.save(LOGIN)
    assert profile.current(arguments(server="https://evil.example")).token == ""
    with pytest.raises(CommandError, match="not signed in to https://evil.example"):
        profile.connect(arguments(server="https://evil.example"))


def test_a_broken_file_says_what_to_do(home: Path) -> None:
    path = home / "belvedere" / "config.json"
    path.parent.mkdir()
    path.write_text("{")
    with pytest.raises(CommandError, match="belvedere login"):
        profile.load()


def test_forgetting_keeps_the_address_for_the_next_login(home: Path) -> None:
    profile.forget_token()
    assert profile.load() == LoginProfile()
    profile.save(LOGIN)
    profile.forget_token()
    profile.forget_token()
    assert profile.load() == LoginProfile("https://one.example", "acme", "")
