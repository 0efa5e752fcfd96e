"""The secrets of a script: read once per change, decrypted only for their task."""

from collections.abc import Iterator
from typing import Any

import pytest

import engines
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database, Tx
from belvedere.db.migrate import open_database
from belvedere.secrets import environment, service
from belvedere.secrets.service import SecretBody
from people import Actors


@pytest.fixture
def other_db(db: Database, database_url: str) -> Iterator[Database]:
    """Another server's; on SQLite there is only one."""
    if db.dialect.name == "sqlite":
        yield db
        return
    opened = open_database(database_url)
    yield opened
    engines.close(opened)


def put(db: Database, keys: Keyring, actors: Actors, name: str, value: str, **more: Any) -> None:
    db.write_blocking(service.put, keys, actors.ada, name, SecretBody(value, **more))


def version(tx: Tx, customer_id: str) -> int:
    return int(tx.value("select secrets_version from customers where id = ?", customer_id))


def env(db: Database, keys: Keyring, customer_id: str) -> dict[str, str]:
    def sealed_rows(tx: Tx) -> Any:
        return environment.sealed_rows(tx, customer_id, version(tx, customer_id))

    return environment.decrypt(keys, db.write_blocking(sealed_rows), None).of_customer


class SilentTx:
    """A transaction that must not be used."""

    def __init__(self, memo: dict[Any, Any]) -> None:
        self.version_cache = memo


def test_a_changed_secret_is_used_by_every_server(
    db: Database, other_db: Database, keys: Keyring, actors: Actors
) -> None:
    """A change on one server is what the other one uses next."""
    for n in range(3):
        put(db, keys, actors, "A", f"value {n}")
        for server in (db, other_db):
            assert env(server, keys, actors.acme.id) == {"A": f"value {n}"}
    db.write_blocking(service.delete, keys, actors.ada, "A", None)
    assert env(other_db, keys, actors.acme.id) == {}


def test_without_secrets_no_query_is_made() -> None:
    assert environment.sealed_rows(SilentTx({}), "acme", 0) == ()  # type: ignore[arg-type]


def test_unchanged_secrets_are_not_read_again(db: Database, keys: Keyring, actors: Actors) -> None:
    put(db, keys, actors, "A", "value")

    def twice(tx: Tx) -> None:
        number = version(tx, actors.acme.id)
        first = environment.sealed_rows(tx, actors.acme.id, number)
        again = environment.sealed_rows(SilentTx(tx.version_cache), actors.acme.id, number)  # type: ignore[arg-type]
        assert again is first and len(first) == 1

    db.write_blocking(twice)


def test_cached_secrets_are_sealed(db: Database, keys: Keyring, actors: Actors) -> None:
    put(db, keys, actors, "A", "hush-hush")
    assert env(db, keys, actors.acme.id) == {"A": "hush-hush"}
    db.write_blocking(lambda tx: _check(tx.version_cache))


def _check(memo: dict[Any, Any]) -> None:
    assert any(key[0] == "secrets" for key in memo)
    assert "hush-hush" not in str(memo)


def test_organizations_are_apart(db: Database, keys: Keyring, actors: Actors) -> None:
    put(db, keys, actors, "A", "of acme")
    db.write_blocking(service.put, keys, actors.eve, "A", SecretBody("of globex"))
    assert env(db, keys, actors.acme.id) == {"A": "of acme"}
    assert env(db, keys, actors.globex.id) == {"A": "of globex"}
