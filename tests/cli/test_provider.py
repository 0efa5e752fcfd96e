"""`belvedere provider`: the client's secret comes by standard input."""

from cli.conftest import Belvedere
from fakeserver import FakeServer

PATH = "/api/provider"
FOUND = {
    "id": "0" * 24,
    "name": "Google",
    "issuer": "https://accounts.google.com",
    "level": "",
    "domains": ["acme.example"],
    "enabled": True,
    "callback": "https://belvedere.example/-/oidc/callback",
}
ADD = ("add", "Google", "--issuer", FOUND["issuer"], "--client-id", "ours")


def test_it_works(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", PATH, FOUND)
    ran = belvedere("provider", *map(str, ADD), "--domain", "acme.example", stdin="s3cret\n")
    assert (ran.status, ran.out) == (0, f"{FOUND['callback']}\n")
    (sent,) = server.bodies("POST", PATH)
    assert sent == {
        "name": "Google",
        "issuer": "https://accounts.google.com",
        "client_id": "ours",
        "client_secret": "s3cret",
        "domains": ["acme.example"],
        "level": "",
    }


def test_a_public_client_has_no_secret(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", PATH, FOUND)
    assert belvedere("provider", *map(str, ADD), "--public", "--level", "user").status == 0
    (sent,) = server.bodies("POST", PATH)
    assert (sent["client_secret"], sent["level"]) == ("", "user")


def test_they_are_listed(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", PATH, [FOUND])
    ran = belvedere("provider", "list")
    assert "accounts.google.com" in ran.out and "must be invited" in ran.out


def test_one_is_named_by_its_name(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", PATH, [FOUND])
    server.on("PATCH", f"{PATH}/{FOUND['id']}", FOUND)
    server.on("DELETE", f"{PATH}/{FOUND['id']}", FOUND)
    assert belvedere("provider", "disable", "Google").status == 0
    assert belvedere("provider", "enable", "Google").status == 0
    assert server.bodies("PATCH", f"{PATH}/{FOUND['id']}") == [
        {"enabled": False},
        {"enabled": True},
    ]
    assert belvedere("provider", "remove", "Google").out == "Google is removed.\n"
