"""Creating tasks."""

from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, audit
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Forbidden, Invalid
from belvedere.db import Database, Tx
from belvedere.files import content_of
from belvedere.hosts import store as hosts
from belvedere.hosts.model import HostRow
from belvedere.tasks import service
from belvedere.tasks.records import to_record
from belvedere.tasks.store import runnable, task_snapshot
from event_rows import for_object
from people import Actors

from .conftest import MISSING, SOURCE, Make, body


def read_task(db: Database, actor: Actor, task_id: str) -> dict[str, Any]:
    view, acl = db.write_blocking(service.show, actor, task_id)
    text: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(to_record(view, actor, acl)))
    return text


def test_a_task_is_created(db: Database, actors: Actors, host: HostRow, make: Make) -> None:
    task = make(task_arguments=[{"type": "input", "label": "who"}], timeout="5000", _type="X")
    stored_task = read_task(db, actors.ada, task.id)
    assert (stored_task["id"], stored_task["_type"], stored_task["type"]) == (
        task.id,
        "ScriptTask",
        "script",
    )
    assert (stored_task["name"], stored_task["hostname"], stored_task["timeout"]) == (
        "greet",
        "web-1",
        5_000,
    )
    assert stored_task["host"] == {"id": host.id, "_id": host.id, "hostname": "web-1"}
    assert (stored_task["script_name"], stored_task["script"]["id"]) == (
        "greet.sh",
        stored_task["script_id"],
    )
    assert (stored_task["script_runas"], stored_task["output_parameters"]) == ("", [])
    assert stored_task["task_arguments"][0]["label"] == "who"
    assert (stored_task["acl"], stored_task["schedules"], stored_task["triggers"]) == ([], [], [])
    assert (stored_task["version"], stored_task["enable"], stored_task["multitasking"]) == (
        1,
        True,
        True,
    )
    assert stored_task["history"] == {"count": 1_000, "days": 90, "inherited": True}
    assert (stored_task["customer_id"], stored_task["customer_name"]) == (actors.acme.id, "acme")
    assert "url" not in stored_task and "approvers" not in stored_task


def test_the_default_timeout_is_null(db: Database, actors: Actors, make: Make) -> None:
    assert read_task(db, actors.ada, make().id)["timeout"] is None


def test_everything_is_written_together(
    db: Database, keys: Keyring, actors: Actors, make: Make
) -> None:
    task = make(acl=["uma@acme.test"])
    assert [e.kind for e in db.write_blocking(for_object, task.id)] == [
        "task.created",
        "task.acl_changed",
    ]
    actions = [row.action for row in db.write_blocking(audit_of, task.id)]
    assert actions == ["task.create", "task.acl"]
    spec = db.write_blocking(task_snapshot, task.id, 1)
    assert spec is not None and spec.name == "greet"
    secret = db.write_blocking(service.reveal, keys, actors.ada, task.id)
    assert db.write_blocking(secret_keys.check, keys, actors.acme.id, "task", task.id, secret)


def audit_of(tx: Tx, object_id: str) -> list[audit.AuditRow]:
    return tx.all(
        audit.AuditRow,
        "select id, customer_id, at, actor_id, actor_name, actor_kind, address, action, object,"
        " object_id, before, after from audit where object_id = ? order by id",
        object_id,
    )


def test_an_inline_script_is_stored(db: Database, actors: Actors, make: Make) -> None:
    task = make()
    actual_runnable = db.write_blocking(runnable, actors.acme.id, task.id)
    assert actual_runnable is not None and actual_runnable.script_sha256 is not None
    assert db.write_blocking(content_of, actual_runnable.script_sha256) == SOURCE.encode()
    other = make(script=None, script_id=actual_runnable.script_id)
    assert other.script_id == actual_runnable.script_id


def test_a_host_can_be_named(make: Make, host: HostRow) -> None:
    assert make(host_id=None, hostname="WEB-1").host_id == host.id
    assert make(host_id=None, host=host.id).host_id == host.id
    assert make(host_id=None, host={"_id": host.id}).host_id == host.id


def test_several_tasks_may_share_a_name(make: Make) -> None:
    assert make().id != make().id


def test_approvers_are_resolved_to_members(db: Database, keys: Keyring, actors: Actors) -> None:
    sent_body = body(
        name="ok?", type="approval", approvers=["MAX@acme.test", "uma", actors.vic.user_id, "max"]
    )
    view, _ = db.write_blocking(service.create, keys, actors.ada, sent_body)
    task = read_task(db, actors.ada, view.id)
    assert task["approvers"] == [actors.max.user_id, actors.uma.user_id, actors.vic.user_id]
    assert (task["_type"], task["hostname"]) == ("ApprovalTask", "")
    assert "host" not in task and "script" not in task


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "dummy"},
        {"type": "notification", "subject": "Done"},
        {"type": "scraper", "url": "https://example.com/health"},
    ],
)
def test_every_type_can_be_created(make: Make, fields: dict[str, Any]) -> None:
    assert make(**fields).type == fields["type"]


def test_masked_defaults_are_never_shown(db: Database, actors: Actors, make: Make) -> None:
    hidden = {"type": "fixed", "label": "key", "masked": True, "value": "s3cret"}
    task = make(task_arguments=[hidden], env={"PASS": "s3cret"})
    assert read_task(db, actors.ada, task.id)["task_arguments"][0]["value"] == "***"
    rows = db.write_blocking(audit_of, task.id)
    assert "s3cret" not in str([row.after for row in rows])
    assert "s3cret" not in str(db.write_blocking(for_object, task.id))
    assert read_task(db, actors.ada, task.id)["env"] == {"PASS": "s3cret"}
    assert read_task(db, actors.max, task.id)["env"] == {}


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"name": None}, "name"),
        ({"type": None}, "type"),
        ({"host_id": None}, "host_id"),
        ({"host_id": MISSING}, "host_id"),
        ({"host_id": "web-1"}, "host_id"),
        ({"host_id": None, "hostname": "web-9"}, "hostname"),
        ({"script": None}, "script_id"),
        ({"script": None, "script_id": MISSING}, "script_id"),
        ({"script": {"filename": "a.sh"}}, "script_id"),
        ({"type": "approval", "approvers": ["nobody@acme.test"]}, "approvers[0]"),
        ({"type": "approval", "approvers": ["eve@globex.test"]}, "approvers[0]"),
        ({"type": "approval"}, "approvers"),
        ({"acl": ["nobody"]}, "users[0]"),
        ({"timeout": -1}, "timeout"),
        ({"multitasking": False, "concurrency": 3}, "multitasking"),
    ],
)
def test_invalid_input_creates_nothing(
    db: Database, make: Make, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        make(**fields)
    assert [fault.field for fault in refusal.value.faults] == [field]
    for table in ("tasks", "task_versions", "files", "secret_keys", "acl"):
        assert db.write_blocking(rows_in, table) == 0


def rows_in(tx: Tx, table: str) -> int:
    return int(tx.value(f"select count(*) from {table}"))


def test_objects_of_another_organization_cannot_be_used(
    db: Database, keys: Keyring, actors: Actors, make: Make
) -> None:
    task = make()
    theirs = db.write_blocking(hosts.insert, actors.globex.id, "web-1", "machine-2", "")
    for fields in ({"host_id": theirs.id, "script": {"source": SOURCE}}, {"host_id": task.host_id}):
        sent_body = body(name="x", type="script", script_id=task.script_id, **fields)
        with pytest.raises(Invalid):
            db.write_blocking(service.create, keys, actors.eve, sent_body)


def test_only_admins_make_tasks(db: Database, keys: Keyring, actors: Actors) -> None:
    sent_body = body(name="x", type="dummy")
    for actor in (actors.max, actors.uma, actors.vic):
        with pytest.raises(Forbidden):
            db.write_blocking(service.create, keys, actor, sent_body)
