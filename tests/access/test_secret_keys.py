"""The secret keys of tasks, workflows and webhooks."""

import hmac
import re

import pytest

from belvedere import events
from belvedere.access import Keyring
from belvedere.access.credentials import secret_keys
from belvedere.base.errors import Forbidden, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Database
from manual_clock import ManualClock
from people import Actors, list_audit_entries

TASK = new_id()


def make(db: Database, keys: Keyring, actors: Actors) -> str:
    return db.write_blocking(secret_keys.create, keys, actors.acme.id, "task", TASK)


def is_valid(db: Database, keys: Keyring, actors: Actors, secret: str) -> bool:
    return db.write_blocking(secret_keys.check, keys, actors.acme.id, "task", TASK, secret)


def test_a_secret_key_is_created_and_shown(db: Database, keys: Keyring, actors: Actors) -> None:
    secret = make(db, keys, actors)
    assert re.fullmatch("[0-9a-f]{64}", secret)
    assert is_valid(db, keys, actors, secret)
    assert db.write_blocking(secret_keys.reveal, keys, actors.ada, "task", TASK) == secret


def test_every_reading_is_audited_without_the_secret(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    secret = make(db, keys, actors)
    db.write_blocking(secret_keys.reveal, keys, actors.ada, "task", TASK)
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.action, row.actor_name) == ("task.reveal_secret", "ada@acme.test")
    items = db.write_blocking(lambda tx: tx.rows("select digest, box from secret_keys"))
    assert secret not in f"{row} {items}"


def test_a_secret_key_gives_access_to_one_record_of_one_organization(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    secret = make(db, keys, actors)
    other = new_id()
    db.write_blocking(secret_keys.create, keys, actors.globex.id, "task", other)
    for customer_id, object, object_id, text in [
        (actors.globex.id, "task", TASK, secret),
        (actors.acme.id, "workflow", TASK, secret),
        (actors.acme.id, "task", new_id(), secret),
        (actors.acme.id, "task", other, secret),
        (actors.globex.id, "task", other, secret),
        (actors.acme.id, "task", TASK, secret[:-1]),
        (actors.acme.id, "task", TASK, f"{secret} "),
        (actors.acme.id, "task", TASK, ""),
        (actors.acme.id, "task", TASK, "-" * 64),
        (actors.acme.id, "task", TASK, "\ud800\0"),
    ]:
        assert not db.write_blocking(
            secret_keys.check, keys, customer_id, object, object_id, text
        ), (
            object,
            text,
        )


def test_a_missing_record_costs_the_same_comparisons(
    db: Database, keys: Keyring, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = make(db, keys, actors)
    compared: list[tuple[int, int]] = []

    def compare(a: str, b: str) -> bool:
        compared.append((len(a), len(b)))
        return a == b

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert is_valid(db, keys, actors, secret)
    assert compared == [(64, 64)] * 2
    compared.clear()
    assert not db.write_blocking(secret_keys.check, keys, actors.acme.id, "task", new_id(), secret)
    assert compared == [(64, 64)] * 2


def test_a_rotated_key_is_invalid_at_once(db: Database, keys: Keyring, actors: Actors) -> None:
    old = make(db, keys, actors)
    new = db.write_blocking(secret_keys.rotate, keys, actors.ada, "task", TASK)
    assert new != old
    assert is_valid(db, keys, actors, new)
    assert not is_valid(db, keys, actors, old)
    assert db.write_blocking(secret_keys.reveal, keys, actors.ada, "task", TASK) == new
    event = db.write_blocking(events.after, 0, 0)[-1]
    assert (event.kind, event.data) == ("task.secret_rotated", "{}")


def test_both_keys_open_while_they_overlap(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    old = make(db, keys, actors)
    new = db.write_blocking(secret_keys.rotate, keys, actors.ada, "task", TASK, 60)
    clock.move(59)
    assert is_valid(db, keys, actors, old)
    assert is_valid(db, keys, actors, new)
    clock.move(1)
    assert not is_valid(db, keys, actors, old)
    assert is_valid(db, keys, actors, new)


def test_only_the_last_key_overlaps(db: Database, keys: Keyring, actors: Actors) -> None:
    first = make(db, keys, actors)
    second = db.write_blocking(secret_keys.rotate, keys, actors.ada, "task", TASK, 60)
    db.write_blocking(secret_keys.rotate, keys, actors.ada, "task", TASK, 60)
    assert not is_valid(db, keys, actors, first)
    assert is_valid(db, keys, actors, second)


@pytest.mark.parametrize("overlap_s", [-1, secret_keys.MAX_OVERLAP_S + 1])
def test_an_overlap_has_bounds(db: Database, keys: Keyring, actors: Actors, overlap_s: int) -> None:
    make(db, keys, actors)
    with pytest.raises(Invalid):
        db.write_blocking(secret_keys.rotate, keys, actors.ada, "task", TASK, overlap_s)


@pytest.mark.parametrize("who", ["max", "uma", "vic"])
def test_only_admins_read_and_rotate(db: Database, keys: Keyring, actors: Actors, who: str) -> None:
    make(db, keys, actors)
    with pytest.raises(Forbidden):
        db.write_blocking(secret_keys.reveal, keys, getattr(actors, who), "task", TASK)
    with pytest.raises(Forbidden):
        db.write_blocking(secret_keys.rotate, keys, getattr(actors, who), "task", TASK)


def test_another_organization_finds_none(db: Database, keys: Keyring, actors: Actors) -> None:
    secret = make(db, keys, actors)
    with pytest.raises(NotFound):
        db.write_blocking(secret_keys.reveal, keys, actors.eve, "task", TASK)
    with pytest.raises(NotFound):
        db.write_blocking(secret_keys.rotate, keys, actors.eve, "task", TASK)
    db.write_blocking(secret_keys.delete, actors.globex.id, "task", TASK)
    assert is_valid(db, keys, actors, secret)


def test_the_key_of_a_deleted_record_is_invalid(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    secret = make(db, keys, actors)
    db.write_blocking(secret_keys.delete, actors.acme.id, "task", TASK)
    assert not is_valid(db, keys, actors, secret)
