"""`belvedere provider add`: the client secret is read from standard input."""

from cli.conftest import Belvedere
from cli.signincalls import FOUND
from fake_server import FakeServer

PATH = "/api/provider"
ADD = ("provider", "add", "Google", "--issuer", FOUND["issuer"], "--client-id", "ours")


def test_a_provider_is_added(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", PATH, FOUND)
    ran = belvedere(*ADD, "--domain", "acme.example", stdin="s3cret\n")
    assert (ran.status, ran.out) == (0, f"{FOUND['callback']}\n")
    (body,) = server.bodies("POST", PATH)
    assert body == {
        "name": "Google",
        "issuer": "https://accounts.google.com",
        "client_id": "ours",
        "client_secret": "s3cret",
        "domains": ["acme.example"],
        "level": "",
    }


def test_a_public_client_has_no_secret(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", PATH, FOUND)
    assert belvedere(*ADD, "--public", "--level", "user").status == 0
    (body,) = server.bodies("POST", PATH)
    assert (body["client_secret"], body["level"]) == ("", "user")


def test_a_secret_cannot_be_a_word_of_the_command_line(belvedere: Belvedere) -> None:
    assert belvedere(*ADD, "--client-secret", "x").status == 2
