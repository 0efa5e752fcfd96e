"""The secret keys of tasks, workflows and webhooks."""

import hmac
import re

import pytest

from belvedere import events
from belvedere.access import Keyring, audit
from belvedere.access.credentials import secret_keys
from belvedere.base.errors import Forbidden, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Database
from manual_clock import HandClock
from people import Cast

TASK = new_id()


def make(db: Database, keys: Keyring, cast: Cast) -> str:
    return db.write_blocking(secret_keys.create, keys, cast.acme.id, "task", TASK)


def fits(db: Database, keys: Keyring, cast: Cast, secret: str) -> bool:
    return db.write_blocking(secret_keys.check, keys, cast.acme.id, "task", TASK, secret)


def test_it_works(db: Database, keys: Keyring, cast: Cast) -> None:
    secret = make(db, keys, cast)
    assert re.fullmatch("[0-9a-f]{64}", secret)
    assert fits(db, keys, cast, secret)
    assert db.write_blocking(secret_keys.reveal, keys, cast.ada, "task", TASK) == secret


def test_every_reading_is_audited_without_the_secret(
    db: Database, keys: Keyring, cast: Cast
) -> None:
    secret = make(db, keys, cast)
    db.write_blocking(secret_keys.reveal, keys, cast.ada, "task", TASK)
    row = db.write_blocking(audit.list_entries, cast.ada)[0]
    assert (row.action, row.actor_name) == ("task.reveal_secret", "ada@acme.test")
    kept = db.write_blocking(lambda tx: tx.rows("select digest, box from secret_keys"))
    assert secret not in f"{row} {kept}"


def test_it_opens_one_record_of_one_organization(db: Database, keys: Keyring, cast: Cast) -> None:
    secret = make(db, keys, cast)
    other = new_id()
    db.write_blocking(secret_keys.create, keys, cast.globex.id, "task", other)
    for customer_id, object, object_id, given in [
        (cast.globex.id, "task", TASK, secret),
        (cast.acme.id, "workflow", TASK, secret),
        (cast.acme.id, "task", new_id(), secret),
        (cast.acme.id, "task", other, secret),
        (cast.globex.id, "task", other, secret),
        (cast.acme.id, "task", TASK, secret[:-1]),
        (cast.acme.id, "task", TASK, f"{secret} "),
        (cast.acme.id, "task", TASK, ""),
        (cast.acme.id, "task", TASK, "-" * 64),
        (cast.acme.id, "task", TASK, "\ud800\0"),
    ]:
        assert not db.write_blocking(
            secret_keys.check, keys, customer_id, object, object_id, given
        ), (
            object,
            given,
        )


def test_a_missing_record_costs_the_same_comparisons(
    db: Database, keys: Keyring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = make(db, keys, cast)
    compared: list[tuple[int, int]] = []

    def compare(a: str, b: str) -> bool:
        compared.append((len(a), len(b)))
        return a == b

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert fits(db, keys, cast, secret)
    assert compared == [(64, 64)] * 2
    compared.clear()
    assert not db.write_blocking(secret_keys.check, keys, cast.acme.id, "task", new_id(), secret)
    assert compared == [(64, 64)] * 2


def test_a_rotated_key_is_dead_at_once(db: Database, keys: Keyring, cast: Cast) -> None:
    old = make(db, keys, cast)
    new = db.write_blocking(secret_keys.rotate, keys, cast.ada, "task", TASK)
    assert new != old
    assert fits(db, keys, cast, new)
    assert not fits(db, keys, cast, old)
    assert db.write_blocking(secret_keys.reveal, keys, cast.ada, "task", TASK) == new
    event = db.write_blocking(events.after, 0, 0)[-1]
    assert (event.kind, event.data) == ("task.secret_rotated", "{}")


def test_both_keys_open_while_they_overlap(
    db: Database, keys: Keyring, cast: Cast, clock: HandClock
) -> None:
    old = make(db, keys, cast)
    new = db.write_blocking(secret_keys.rotate, keys, cast.ada, "task", TASK, 60)
    clock.move(59)
    assert fits(db, keys, cast, old)
    assert fits(db, keys, cast, new)
    clock.move(1)
    assert not fits(db, keys, cast, old)
    assert fits(db, keys, cast, new)


def test_only_the_last_key_overlaps(db: Database, keys: Keyring, cast: Cast) -> None:
    first = make(db, keys, cast)
    second = db.write_blocking(secret_keys.rotate, keys, cast.ada, "task", TASK, 60)
    db.write_blocking(secret_keys.rotate, keys, cast.ada, "task", TASK, 60)
    assert not fits(db, keys, cast, first)
    assert fits(db, keys, cast, second)


@pytest.mark.parametrize("overlap_s", [-1, secret_keys.MAX_OVERLAP_S + 1])
def test_an_overlap_has_bounds(db: Database, keys: Keyring, cast: Cast, overlap_s: int) -> None:
    make(db, keys, cast)
    with pytest.raises(Invalid):
        db.write_blocking(secret_keys.rotate, keys, cast.ada, "task", TASK, overlap_s)


@pytest.mark.parametrize("who", ["max", "uma", "vic"])
def test_only_admins_read_and_rotate(db: Database, keys: Keyring, cast: Cast, who: str) -> None:
    make(db, keys, cast)
    with pytest.raises(Forbidden):
        db.write_blocking(secret_keys.reveal, keys, getattr(cast, who), "task", TASK)
    with pytest.raises(Forbidden):
        db.write_blocking(secret_keys.rotate, keys, getattr(cast, who), "task", TASK)


def test_another_organization_finds_none(db: Database, keys: Keyring, cast: Cast) -> None:
    secret = make(db, keys, cast)
    with pytest.raises(NotFound):
        db.write_blocking(secret_keys.reveal, keys, cast.eve, "task", TASK)
    with pytest.raises(NotFound):
        db.write_blocking(secret_keys.rotate, keys, cast.eve, "task", TASK)
    db.write_blocking(secret_keys.delete, cast.globex.id, "task", TASK)
    assert fits(db, keys, cast, secret)


def test_the_key_of_a_deleted_record_opens_nothing(db: Database, keys: Keyring, cast: Cast) -> None:
    secret = make(db, keys, cast)
    db.write_blocking(secret_keys.delete, cast.acme.id, "task", TASK)
    assert not fits(db, keys, cast, secret)
