"""How long deliveries are kept, and which of their headers."""

import json

import pytest

from belvedere.base.clock import DAY, SECOND
from belvedere.db import Database
from belvedere.webhooks.deliveries import store
from belvedere.webhooks.deliveries.receive import trigger
from manual_clock import ManualClock

from .conftest import Dial, Make


def list_bodies(db: Database, webhook_id: str) -> list[str]:
    items = db.write_blocking(
        lambda tx: tx.rows(
            "select body from deliveries where webhook_id = ? order by id", webhook_id
        )
    )
    return [row[0] for row in items]


def trim(db: Database) -> None:
    webhook_id: str | None = ""
    while webhook_id is not None:
        webhook_id = db.write_blocking(store.purge_excess, webhook_id)


def test_only_the_newest_deliveries_of_a_webhook_are_kept(
    db: Database, make: Make, make_call: Dial
) -> None:
    """The limit applies to each webhook."""
    busy, quiet = make(), make()
    db.write_blocking(
        trigger, [make_call(busy, f"[{n}]".encode()) for n in range(store.MAX_DELIVERIES + 20)]
    )
    db.write_blocking(trigger, [make_call(quiet)])
    trim(db)
    assert list_bodies(db, busy.id) == [f"[{n}]" for n in range(20, store.MAX_DELIVERIES + 20)]
    assert len(list_bodies(db, quiet.id)) == 1
    trim(db)
    assert len(list_bodies(db, busy.id)) == store.MAX_DELIVERIES


def test_large_deliveries_have_a_shorter_retention(
    db: Database, make: Make, make_call: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 1_000)
    hook = make()
    db.write_blocking(trigger, [make_call(hook, b'["' + b"x" * 300 + b'"]') for _ in range(5)])
    trim(db)
    assert len(list_bodies(db, hook.id)) == 3
    db.write_blocking(trigger, [make_call(hook, b'["' + b"x" * 5_000 + b'"]')])
    trim(db)
    # The newest stays, however large.
    assert [len(body) for body in list_bodies(db, hook.id)] == [5_004]


def test_old_deliveries_are_deleted(
    db: Database, clock: ManualClock, make: Make, make_call: Dial
) -> None:
    hook = make()
    db.write_blocking(trigger, [make_call(hook)])
    # Ids begin with the machine's own time.
    db.write_blocking(lambda tx: tx.execute("update deliveries set id = '000' || substr(id, 4)"))
    db.write_blocking(trigger, [make_call(hook, b"[2]")])
    clock.move(DAY / SECOND)
    while db.write_blocking(store.purge_old):
        pass
    assert list_bodies(db, hook.id) == ["[2]"]


def test_headers_that_look_secret_are_masked() -> None:
    names = ["Authorization", "Cookie", "X-Api-Key", "X-Gitlab-Token", "X-Hub-Signature-256"]
    names += ["X-Secret", "Proxy-Authorization", "X-Auth", "X-Password"]
    items = [*((name, "canary") for name in names), ("User-Agent", "forge"), ("X-Event", "push")]
    record = json.loads(store.redact_headers(items))
    assert "canary" not in str(record)
    assert (record["User-Agent"], record["X-Event"]) == ("forge", "push")


def test_headers_are_bounded() -> None:
    record = json.loads(store.redact_headers((f"X-{n}", "v" * 5_000) for n in range(500)))
    assert len(record) == store.MAX_HEADERS
    assert {len(value) for value in record.values()} == {store.MAX_HEADER}


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"a\x00b", b"\xed\xa0\x80"])
def test_a_body_that_is_not_text_can_be_stored(
    db: Database, make: Make, make_call: Dial, raw: bytes
) -> None:
    hook = make()
    db.write_blocking(trigger, [make_call(hook, raw)])
    assert len(list_bodies(db, hook.id)) == 1
