"""The audit log: what is stored, its pages, and no secrets in it."""

from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, Level, audit
from belvedere.access.audit import AuditFilter
from belvedere.access.crypto.keyring import make_token
from belvedere.base.ids import new_id
from belvedere.db import Database
from people import Actors, list_audit_entries


def test_a_change_is_recorded_with_its_actor(db: Database, actors: Actors) -> None:
    task_id = new_id()
    db.write_blocking(
        audit.record, actors.ada, "task.change", "task", task_id, {"name": "a"}, {"name": "b"}
    )
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.actor_id, row.actor_name, row.actor_kind, row.address) == (
        actors.ada.user_id,
        "ada@acme.test",
        "member",
        actors.ada.address,
    )
    assert (row.action, row.object, row.object_id) == ("task.change", "task", task_id)
    assert (row.before, row.after) == ('{"name":"a"}', '{"name":"b"}')


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter2"},
        {"env": {"DB_PASSWORD": "hunter2", "x": 1}},
        {"list": [{"client_secret": "hunter2"}]},
        {"apiKey": "hunter2", "api_key": "hunter2"},
        {"Authorization": "hunter2"},
        {"access_token": "hunter2"},
        {"box": "hunter2"},
    ],
)
def test_fields_with_secret_names_are_left_out(value: dict[str, Any]) -> None:
    assert "hunter2" not in str(audit.without_secrets(value))


def test_our_own_credentials_are_masked_everywhere() -> None:
    for prefix in ("bvt_", "bva_", "bvs_", "bve_", "bvl_"):
        token = make_token(prefix)
        values = audit.without_secrets({"url": f"https://x/?y={token}&z", "all": [token]})
        assert values == {"url": "https://x/?y=***&z", "all": ["***"]}


def test_the_rest_stays() -> None:
    value = {"name": "a", "credential": "admin", "n": [1, None, True], "box_size": 3}
    assert audit.without_secrets(value) == value


def test_records_are_accepted(db: Database, actors: Actors) -> None:
    class Inner(msgspec.Struct):
        level: Level

    after = {"inner": Inner(Level.USER)}
    db.write_blocking(audit.record, actors.ada, "x.y", "x", new_id(), None, after)
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.before, row.after) == (None, '{"inner":{"level":"user"}}')


def test_the_audit_log_is_read_page_by_page_newest_first(db: Database, actors: Actors) -> None:
    ids = [new_id() for _ in range(5)]
    for object_id in ids:
        db.write_blocking(audit.record, actors.ada, "x.y", "x", object_id)
    first = db.write_blocking(list_audit_entries, actors.ada, 2)
    second = db.write_blocking(list_audit_entries, actors.ada, 2, AuditFilter(after=first[-1].id))
    assert [row.object_id for row in first + second] == ids[:0:-1]
    (only,) = db.write_blocking(list_audit_entries, actors.ada, 100, AuditFilter(object_id=ids[2]))
    assert only.object_id == ids[2]


def test_other_organizations_do_not_read_the_audit_log(db: Database, actors: Actors) -> None:
    object_id = new_id()
    db.write_blocking(audit.record, actors.ada, "x.y", "x", object_id)
    assert (
        db.write_blocking(list_audit_entries, actors.eve, 100, AuditFilter(object_id=object_id))
        == []
    )
    assert all(
        row.customer_id == actors.globex.id
        for row in db.write_blocking(list_audit_entries, actors.eve)
    )


def test_an_actor_that_is_not_a_person_is_shown_by_its_kind(db: Database, actors: Actors) -> None:
    secret = Actor(actors.acme.id, "acme", Level.ANONYMOUS, "secret", credential_id="k")
    db.write_blocking(audit.record, secret, "job.create", "job", new_id())
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.actor_id, row.actor_name, row.actor_kind) == ("k", "secret", "secret")
