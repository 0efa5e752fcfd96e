"""Signing in by password, token and one-time link; signing out."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer

WHO = {
    "name": "Ada",
    "username": "ada",
    "email": "ada@acme.example",
    "customers": [{"id": "1", "name": "acme"}],
    "current_customer": {"id": "1", "name": "acme"},
    "credential": "admin",
}


@pytest.fixture(autouse=True)
def profile(server: FakeServer) -> None:
    server.on("GET", "/api/session/profile", WHO)
    server.on("POST", "/api/auth/login", {"access_token": "bvs_new"})


def saved_config(home: Path) -> Any:
    return json.loads((home / "belvedere" / "config.json").read_text())


def test_a_login_prints_account_and_organization(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    words = ("login", "--server", server.url, "--email", "ada@acme.example")
    ran = anonymous(*words, stdin="correct horse\n")
    text = f"Signed in to {server.url} as ada@acme.example, organization acme.\n"
    assert (ran.status, ran.out) == (0, text)
    login = {"email": "ada@acme.example", "password": "correct horse"}
    assert server.bodies("POST", "/api/auth/login") == [login]
    assert saved_config(home) == {"server": server.url, "customer": "acme", "token": "bvs_new"}
    assert server.asked[-1].headers["Authorization"] == "Bearer bvs_new"


def test_the_email_is_requested_too(anonymous: Belvedere, server: FakeServer) -> None:
    ran = anonymous("login", "--server", server.url, stdin="ada@acme.example\ncorrect horse\n")
    assert ran.status == 0
    assert server.bodies("POST", "/api/auth/login")[0]["email"] == "ada@acme.example"


def test_the_organization_is_named_at_login(anonymous: Belvedere, server: FakeServer) -> None:
    words = ("login", "--server", server.url, "--email", "a", "--customer", "globex")
    anonymous(*words, stdin="correct horse\n")
    assert server.asked[0].query == {"customer": "globex"}


def test_a_wrong_password_leaves_the_old_login(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    words = ("login", "--server", server.url, "--email", "ada@acme.example")
    anonymous(*words, stdin="correct horse\n")
    server.on(
        "POST", "/api/auth/login", CannedResponse({"code": "bad_login", "message": "Wrong."}, 401)
    )
    ran = anonymous(*words, stdin="wrong\n")
    assert (ran.status, ran.err) == (1, "belvedere: Wrong.\n")
    assert saved_config(home)["token"] == "bvs_new"


def test_an_empty_password_is_refused(anonymous: Belvedere, server: FakeServer) -> None:
    ran = anonymous("login", "--server", server.url, "--email", "ada@acme.example", stdin="\n")
    assert (ran.status, server.asked) == (1, [])


def test_login_accepts_an_integration_token(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    assert anonymous("login", "--server", server.url, "--token", stdin="bvt_ci\n").status == 0
    assert saved_config(home)["token"] == "bvt_ci"


def test_a_password_cannot_be_a_word_of_the_command_line(anonymous: Belvedere) -> None:
    assert anonymous("login", "--password", "x").status == 2
    assert anonymous("login", "--token", "bvt_x").status == 2


def test_an_invitation_sets_a_password_and_signs_in(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    look = {"kind": "invitation", "email": "max@acme.example", "has_password": False}
    server.on("POST", "/api/auth/link", look)
    server.on("POST", "/api/auth/invitation", {"access_token": "bvs_max"})
    ran = anonymous("login", "--link", stdin=f"{server.url}/ui/link#bvl_1\nnew password\n")
    assert ran.status == 0
    body = {"token": "bvl_1", "password": "new password"}
    assert server.bodies("POST", "/api/auth/invitation") == [body]
    assert saved_config(home)["token"] == "bvs_max"


def test_a_reset_link_sets_the_password_and_signs_in(
    anonymous: Belvedere, server: FakeServer
) -> None:
    look = {"kind": "reset", "email": "ada@acme.example", "has_password": True}
    server.on("POST", "/api/auth/link", look)
    server.on("PUT", "/api/auth/password/reset", {"message": "done"})
    ran = anonymous("login", "--link", stdin=f"{server.url}/ui/link#bvl_1\nnew password\n")
    assert ran.status == 0
    login = {"email": "ada@acme.example", "password": "new password"}
    assert server.bodies("POST", "/api/auth/login") == [login]


def test_no_password_is_requested_if_passwords_are_disabled(
    anonymous: Belvedere, server: FakeServer
) -> None:
    look = {"kind": "invitation", "email": "max@acme.example", "has_password": False}
    server.on("POST", "/api/auth/link", {**look, "customer_name": "acme", "password": False})
    ran = anonymous("login", "--link", stdin=f"{server.url}/ui/link#bvl_1\n")
    assert ran.status != 0 and "does not allow passwords" in ran.err
    assert server.bodies("POST", "/api/auth/invitation") == []


def test_an_invalid_link_is_refused(anonymous: Belvedere) -> None:
    assert "not a one-time link" in anonymous("login", "--link", stdin="bvl_1\n").err


def test_logging_out_ends_the_session_and_forgets_it(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    words = ("login", "--server", server.url, "--email", "ada@acme.example")
    anonymous(*words, stdin="correct horse\n")
    server.on("POST", "/api/session/logout", {"message": "done"})
    assert anonymous("logout").status == 0
    assert server.asked[-1].path == "/api/session/logout"
    assert saved_config(home)["token"] == ""


def test_logging_out_works_without_the_server(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    words = ("login", "--server", server.url, "--email", "ada@acme.example")
    anonymous(*words, stdin="correct horse\n")
    server.on("POST", "/api/session/logout", CannedResponse({"message": "Away."}, 503))
    ran = anonymous("logout")
    assert ran.status == 0
    assert "Away." in ran.err
    assert saved_config(home)["token"] == ""


def test_whoami_shows_the_signed_in_person(belvedere: Belvedere) -> None:
    ran = belvedere("whoami")
    assert "ada@acme.example" in ran.out
    assert "admin" in ran.out


CODE = "/api/auth/login/second-factor"


def test_the_code_of_the_second_factor_is_requested(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    server.on("POST", "/api/auth/login", {"second_factor": "totp", "ticket": "bvf_1"})
    server.on("POST", CODE, {"access_token": "bvs_new"})
    words = ("login", "--server", server.url, "--email", "ada@acme.example")
    assert anonymous(*words, stdin="correct horse\n123456\n").status == 0
    assert server.bodies("POST", CODE) == [{"ticket": "bvf_1", "code": "123456"}]
    assert saved_config(home)["token"] == "bvs_new"


def test_a_second_factor_that_is_required_is_set_up_on_the_way(
    anonymous: Belvedere, server: FakeServer, home: Path
) -> None:
    look = {"kind": "invitation", "email": "max@acme.example", "has_password": False}
    server.on("POST", "/api/auth/link", look)
    server.on("POST", "/api/auth/invitation", {"second_factor": "setup", "ticket": "bvf_1"})
    server.on("POST", f"{CODE}/setup", {"secret": "ABCDEF", "uri": "otpauth://x", "qr": "<svg/>"})
    server.on("POST", CODE, {"access_token": "bvs_max", "recovery_codes": ["aaaaa-bbbbb"]})
    words = f"{server.url}/ui/link#bvl_1\nnew password\n123456\n"
    ran = anonymous("login", "--link", stdin=words)
    assert ran.status == 0
    assert "ABCDEF" in ran.err and "aaaaa-bbbbb" in ran.err
    assert server.bodies("POST", f"{CODE}/setup") == [{"ticket": "bvf_1"}]
    assert saved_config(home)["token"] == "bvs_max"
