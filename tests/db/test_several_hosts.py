"""An address with several PostgreSQL servers: the one that accepts writes is used."""

import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

import engines
import pgpair
from belvedere import settings
from belvedere.db import installation
from belvedere.db.migrate import open_database
from pgpair import PostgresPair

pytestmark = [pytest.mark.heavy, pytest.mark.limit(90)]


@pytest.fixture(scope="module")
def pair() -> Iterator[PostgresPair]:
    with pgpair.postgres_pair() as new_pair:
        engines.create_migrated(new_pair.primary.url(), "belvedere")
        new_pair.start_standby()
        yield new_pair


def address(*hosts: str, **options: object) -> str:
    """As an operator writes it, with options that our own ones do not replace."""
    names = ",".join(quote(host, safe=":.") for host in hosts)
    words = "&".join(f"{name}={value}" for name, value in options.items())
    url = f"postgresql://postgres@{names}/belvedere" + (f"?{words}" if words else "")
    loaded = settings.load({}, {"BELVEDERE_DATABASE": url})
    assert loaded.database_url == url
    return loaded.database_url


def write(url: str, text: str) -> str | None:
    """Write a value as the server does; the value that it reads afterwards."""
    db = open_database(url)
    try:
        db.write_blocking(installation.write, "several hosts", text)
        return db.write_blocking(installation.read, "several hosts")
    finally:
        engines.close(db)


def test_writes_go_to_the_primary(pair: PostgresPair) -> None:
    """A standby comes first, and is not used: it accepts connections, but no writes."""
    url = address(str(pair.standby.folder), str(pair.primary.folder))
    assert write(url, "on the primary") == "on the primary"


def test_a_server_that_is_down_is_skipped(pair: PostgresPair) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url = address(f"127.0.0.1:{port}", str(pair.primary.folder), connect_timeout=2)
    assert write(url, "on the second") == "on the second"


def test_a_server_that_does_not_answer_is_skipped(pair: PostgresPair) -> None:
    """Its machine has disappeared: connections are neither answered nor refused."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        options = {"connect_timeout": 2, "tcp_user_timeout": 4_000, "keepalives_idle": 2}
        url = address(f"127.0.0.1:{port}", str(pair.primary.folder), **options)
        assert write(url, "after two seconds") == "after two seconds"


def test_the_same_address_leads_to_the_new_primary(pair: PostgresPair) -> None:
    """The last test: it stops the primary."""
    url = address(
        str(pair.primary.folder), str(pair.standby.folder), target_session_attrs="read-write"
    )
    assert write(url, "before") == "before"
    pair.fail_over()
    assert write(url, "after") == "after"
