"""Changing and deleting tasks."""

from typing import Any

import msgspec
import pytest

from belvedere.access import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Forbidden, Invalid, NotFound, Stale
from belvedere.db import Database
from belvedere.files import content_of
from belvedere.hosts import delete as delete_host
from belvedere.hosts import store as hosts
from belvedere.hosts.model import HostRow
from belvedere.tasks import service
from belvedere.tasks.records import to_record
from belvedere.tasks.store import TaskView, runnable, task_snapshot
from event_rows import for_object
from people import Actors

from .conftest import MISSING, Make, body


def patch(db: Database, actor: Actor, task_id: str, **fields: Any) -> TaskView:
    return db.write_blocking(service.change, actor, task_id, body(**fields), is_replacement=False)[
        0
    ]


def put(db: Database, actor: Actor, task_id: str, **fields: Any) -> TaskView:
    return db.write_blocking(service.change, actor, task_id, body(**fields), is_replacement=True)[0]


def read_task(db: Database, actor: Actor, task_id: str) -> dict[str, Any]:
    view, acl = db.write_blocking(service.show, actor, task_id)
    text: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(to_record(view, actor, acl)))
    return text


def test_a_task_is_changed_partially(db: Database, actors: Actors, make: Make) -> None:
    task = make(description="old", retry={"times": 2})
    changed = patch(db, actors.ada, task.id, description="new", multitasking=False)
    stored_task = read_task(db, actors.ada, task.id)
    assert (changed.version, stored_task["description"], stored_task["concurrency"]) == (
        2,
        "new",
        1,
    )
    assert stored_task["retry"]["times"] == 2
    assert db.write_blocking(for_object, task.id)[-1].kind == "task.changed"


def test_each_version_is_stored(db: Database, actors: Actors, make: Make) -> None:
    task = make(name="one")
    patch(db, actors.ada, task.id, name="two")
    first, second = (db.write_blocking(task_snapshot, task.id, n) for n in (1, 2))
    assert first is not None and second is not None
    assert (first.name, second.name) == ("one", "two")
    assert db.write_blocking(task_snapshot, task.id, 3) is None


def test_a_replacement_resets_omitted_fields(
    db: Database, actors: Actors, host: HostRow, make: Make
) -> None:
    task = make(description="old", tags=["a"], timeout=5_000, acl=["uma@acme.test"])
    put(db, actors.ada, task.id, name="new", host_id=host.id, script_id=task.script_id)
    stored_task = read_task(db, actors.ada, task.id)
    assert (stored_task["name"], stored_task["description"], stored_task["tags"]) == ("new", "", [])
    assert (stored_task["timeout"], stored_task["acl"]) == (5_000, ["uma@acme.test"])


def test_a_record_can_be_sent_back_as_it_was(db: Database, actors: Actors, make: Make) -> None:
    hidden = {"type": "fixed", "label": "key", "masked": True, "value": "s3cret"}
    task = make(
        task_arguments=[hidden], env={"A": "b"}, concurrency=3, timeout=7, acl=["uma@acme.test"]
    )
    before = read_task(db, actors.ada, task.id)
    for send in (put, patch):
        assert send(db, actors.ada, task.id, **before).version == 1
    spec = db.write_blocking(task_snapshot, task.id, 1)
    assert spec is not None and spec.task_arguments[0].value == "s3cret"


def test_a_record_can_be_sent_back_with_one_name_changed(
    db: Database, actors: Actors, make: Make
) -> None:
    other = db.write_blocking(hosts.insert, actors.acme.id, "web-2", "machine-2", "")
    task = make()
    before = read_task(db, actors.ada, task.id)
    assert put(db, actors.ada, task.id, **{**before, "hostname": "web-2"}).host_id == other.id
    before = read_task(db, actors.ada, task.id)
    moved = {**before, "host_id": task.host_id}
    assert put(db, actors.ada, task.id, **moved).host_id == task.host_id
    with pytest.raises(Invalid):
        third = db.write_blocking(hosts.insert, actors.acme.id, "web-3", "machine-3", "")
        put(db, actors.ada, task.id, **{**before, "host_id": third.id, "hostname": "web-1"})


def test_the_timeout_has_its_own_route(db: Database, actors: Actors, make: Make) -> None:
    task = make(timeout=5_000)
    for send in (put, patch):
        with pytest.raises(Invalid, match="/api/task/{id}/timeout") as refusal:
            send(db, actors.ada, task.id, name="x", timeout=6_000)
        assert refusal.value.code == "timeout_fixed"
    patch(db, actors.ada, task.id, timeout=5_000)
    db.write_blocking(service.set_timeout, actors.ada, task.id, 6_000)
    assert read_task(db, actors.ada, task.id)["timeout"] == 6_000
    db.write_blocking(service.set_timeout, actors.ada, task.id, None)
    stored_task = read_task(db, actors.ada, task.id)
    assert (stored_task["timeout"], stored_task["version"]) == (None, 3)
    with pytest.raises(Invalid):
        db.write_blocking(service.set_timeout, actors.ada, task.id, 0)


def test_the_type_of_a_task_cannot_be_changed(db: Database, actors: Actors, make: Make) -> None:
    with pytest.raises(Invalid) as refusal:
        patch(db, actors.ada, make().id, type="dummy")
    assert refusal.value.code == "type_fixed"


def test_a_new_text_is_a_new_version_of_its_script(
    db: Database, actors: Actors, make: Make
) -> None:
    task = make()
    patch(db, actors.ada, task.id, script={"source": "#!/bin/sh\necho new\n"})
    actual_runnable = db.write_blocking(runnable, actors.acme.id, task.id)
    assert actual_runnable is not None and actual_runnable.script_sha256 is not None
    assert actual_runnable.script_id == task.script_id
    assert db.write_blocking(content_of, actual_runnable.script_sha256) == b"#!/bin/sh\necho new\n"


def test_a_script_that_others_use_is_left_alone(db: Database, actors: Actors, make: Make) -> None:
    task = make()
    other = make(script=None, script_id=task.script_id)
    changed = patch(db, actors.ada, task.id, script={"source": "#!/bin/sh\necho new\n"})
    assert changed.script_id not in (None, task.script_id)
    actual_runnable = db.write_blocking(runnable, actors.acme.id, other.id)
    assert actual_runnable is not None and actual_runnable.script_id == task.script_id


def test_a_task_of_a_deleted_host_can_be_edited_but_not_run(
    db: Database, actors: Actors, make: Make
) -> None:
    task = make()
    actual_runnable = db.write_blocking(runnable, actors.acme.id, task.id)
    assert actual_runnable is not None and not actual_runnable.lacks_host
    assert task.host_id is not None
    db.write_blocking(delete_host, actors.ada, task.host_id)
    patch(db, actors.ada, task.id, description="homeless")
    assert put(db, actors.ada, task.id, **read_task(db, actors.ada, task.id)).version == 2
    record_now = read_task(db, actors.ada, task.id)
    assert (record_now["hostname"], record_now["host"]) == ("", None)
    actual_runnable = db.write_blocking(runnable, actors.acme.id, task.id)
    assert actual_runnable is not None and actual_runnable.lacks_host


def test_a_stale_change_is_refused(db: Database, actors: Actors, make: Make) -> None:
    task = make()
    db.write_blocking(service.change, actors.ada, task.id, body(name="a"), 1, is_replacement=False)
    with pytest.raises(Stale):
        db.write_blocking(
            service.change, actors.ada, task.id, body(name="b"), 1, is_replacement=False
        )
    with pytest.raises(Stale):
        db.write_blocking(service.set_timeout, actors.ada, task.id, 5, 1)


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"name": ""}, "name"),
        ({"host_id": MISSING}, "host_id"),
        ({"script_id": MISSING}, "script_id"),
        ({"task_arguments": [{"type": "select"}]}, "task_arguments[0].options"),
        ({"acl": ["nobody"]}, "users[0]"),
    ],
)
def test_bad_input_changes_nothing(
    db: Database, actors: Actors, make: Make, fields: dict[str, Any], field: str
) -> None:
    task = make()
    sent_body = {"script": {"source": "other"}, **fields}
    with pytest.raises(Invalid) as refusal:
        patch(db, actors.ada, task.id, **sent_body)
    assert [fault.field for fault in refusal.value.faults] == [field]
    assert read_task(db, actors.ada, task.id)["version"] == 1
    assert db.write_blocking(lambda tx: tx.value("select max(version) from files")) == 1


def test_a_replacement_must_be_complete(
    db: Database, actors: Actors, host: HostRow, make: Make
) -> None:
    task = make()
    for fields in ({}, {"name": "x"}, {"name": "x", "host_id": host.id}):
        with pytest.raises(Invalid):
            put(db, actors.ada, task.id, **fields)


def test_a_deleted_task_is_not_found_and_its_key_is_invalid(
    db: Database, keys: Keyring, actors: Actors, make: Make
) -> None:
    task = make()
    secret = db.write_blocking(service.reveal, keys, actors.ada, task.id)
    view, _ = db.write_blocking(service.delete, actors.ada, task.id)
    assert view.id == task.id
    assert db.write_blocking(runnable, actors.acme.id, task.id) is None
    assert db.write_blocking(runnable, actors.acme.id, task.id, also_deleted=True) is not None
    assert not db.write_blocking(secret_keys.check, keys, actors.acme.id, "task", task.id, secret)
    for verb in (service.show, service.delete):
        with pytest.raises(NotFound):
            db.write_blocking(verb, actors.ada, task.id)
    assert db.write_blocking(for_object, task.id)[-1].kind == "task.deleted"


def test_only_admins_change_and_only_their_own(
    db: Database, keys: Keyring, actors: Actors, make: Make
) -> None:
    task = make()

    def operations(actor: Actor, task_id: str) -> list[Any]:
        return [
            lambda: patch(db, actor, task_id, name="x"),
            lambda: db.write_blocking(service.set_timeout, actor, task_id, 5),
            lambda: db.write_blocking(service.delete, actor, task_id),
            lambda: db.write_blocking(service.reveal, keys, actor, task_id),
            lambda: db.write_blocking(service.rotate, keys, actor, task_id),
        ]

    for actor in (actors.max, actors.uma, actors.vic):
        for operation in operations(actor, task.id):
            with pytest.raises(Forbidden):
                operation()
    for actor, task_id in ((actors.eve, task.id), (actors.ada, MISSING)):
        for operation in operations(actor, task_id):
            with pytest.raises(NotFound) as refusal:
                operation()
            assert refusal.value.message == "There is no such task."


def test_a_key_is_changed_at_once_or_after_an_overlap(
    db: Database, keys: Keyring, actors: Actors, make: Make
) -> None:
    task = make()

    def opens(secret: str) -> bool:
        return db.write_blocking(secret_keys.check, keys, actors.acme.id, "task", task.id, secret)

    first = db.write_blocking(service.reveal, keys, actors.ada, task.id)
    second = db.write_blocking(service.rotate, keys, actors.ada, task.id)
    assert (opens(first), opens(second)) == (False, True)
    third = db.write_blocking(service.rotate, keys, actors.ada, task.id, 60)
    assert (opens(second), opens(third)) == (True, True)
