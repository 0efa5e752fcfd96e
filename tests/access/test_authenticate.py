"""The actor of a token."""

import pytest

from belvedere.access import Keyring, Level, authenticate
from belvedere.access.customers import member_changes
from belvedere.db import Database
from people import Actors


def test_a_token_identifies_its_member(db: Database, keys: Keyring, actors: Actors) -> None:
    for name, token in actors.tokens.items():
        actor = db.write_blocking(authenticate, keys, token)
        expected = getattr(actors, name)
        assert actor is not None
        assert (actor.customer_id, actor.level, actor.email, actor.member_id) == (
            expected.customer_id,
            expected.level,
            expected.email,
            expected.member_id,
        )


@pytest.mark.parametrize(
    "token",
    [
        "",
        "bvs_",
        "bvs_" + "x" * 43,
        "bvt_" + "x" * 43,
        "bva_" + "x" * 43,
        "nonsense",
        "bvs_\0",
        "bvs_\ud800",
        "bvs_" + "x" * 10_000,
    ],
)
def test_an_unknown_credential_is_refused(
    db: Database, keys: Keyring, actors: Actors, token: str
) -> None:
    assert db.write_blocking(authenticate, keys, token) is None


def test_a_token_with_another_prefix_is_unknown(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    assert db.write_blocking(authenticate, keys, "bvt_" + actors.tokens["ada"][4:]) is None


def test_a_token_of_another_server_key_is_unknown(db: Database, actors: Actors) -> None:
    assert db.write_blocking(authenticate, Keyring(b"x" * 32), actors.tokens["ada"]) is None


def test_the_level_is_the_one_of_now(db: Database, keys: Keyring, actors: Actors) -> None:
    db.write_blocking(
        lambda tx: tx.execute(
            "update members set level = ? where id = ?", "viewer", actors.ada.member_id
        )
    )
    actor = db.write_blocking(authenticate, keys, actors.tokens["ada"])
    assert actor is not None
    assert actor.level is Level.VIEWER


def test_a_removed_member_is_unknown(db: Database, keys: Keyring, actors: Actors) -> None:
    db.write_blocking(member_changes.remove, actors.ada, actors.vic.member_id)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None


async def test_authentication_needs_no_write(db: Database, keys: Keyring, actors: Actors) -> None:
    assert await db.read(authenticate, keys, actors.tokens["ada"]) is not None
