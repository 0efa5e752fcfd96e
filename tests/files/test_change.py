"""New versions, deletion, who uses a file, and what agents may download."""

import pytest

from belvedere.access import Actor, Level
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.files import FileChange, FileRow, create
from belvedere.files.service import change, delete, download, list_uses, show, versions
from belvedere.hosts import store as hosts
from event_rows import for_object
from people import Actors

MISSING = "0" * 24
OLD, NEW = b"#!/bin/sh\necho old\n", b"#!/bin/sh\necho new\n"


@pytest.fixture
def file(db: Database, actors: Actors) -> FileRow:
    return db.write_blocking(create, actors.ada, FileChange(filename="hello.sh", content=OLD))


def use(tx: Tx, actor: Actor, file_id: str, hostname: str = "web-1") -> str:
    """A task of a new host that runs the file; the host's id."""
    host = hosts.insert(tx, actor.customer_id, hostname, "machine", "")
    tx.execute(
        "insert into tasks (id, customer_id, name, type, host_id, script_id, spec, created_at,"
        " updated_at) values (?, ?, 'greet', 'script', ?, ?, '{}', 0, 0)",
        new_id(),
        actor.customer_id,
        host.id,
        file_id,
    )
    return host.id


def agent(customer_id: str, host_id: str) -> Actor:
    return Actor(customer_id, "acme", Level.AGENT, "agent", host_id=host_id)


def test_a_file_gets_a_new_version(db: Database, actors: Actors, file: FileRow) -> None:
    file_change = FileChange(content=NEW, description="Says hello", tags=["greeting"])
    changed = db.write_blocking(change, actors.ada, file.id, file_change)
    assert (changed.version, changed.description) == (2, "Says hello")
    assert db.write_blocking(download, actors.max, file.id).data == NEW
    assert db.write_blocking(download, actors.max, file.id, 1).data == OLD
    assert [item.version for item in db.write_blocking(versions, actors.max, file.id)] == [2, 1]
    assert db.write_blocking(for_object, file.id)[-1].kind == "file.changed"


def test_an_edit_without_a_change_creates_no_version(
    db: Database, actors: Actors, file: FileRow
) -> None:
    assert db.write_blocking(change, actors.ada, file.id, FileChange(content=OLD)).version == 1


def test_a_stale_change_is_refused(db: Database, actors: Actors, file: FileRow) -> None:
    db.write_blocking(change, actors.ada, file.id, FileChange(content=NEW), 1)
    with pytest.raises(Stale):
        db.write_blocking(change, actors.ada, file.id, FileChange(content=OLD), 1)


def test_bad_input_changes_nothing(db: Database, actors: Actors, file: FileRow) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(change, actors.ada, file.id, FileChange(content=NEW, mimetype="?"))
    assert db.write_blocking(show, actors.ada, file.id).version == 1


def test_there_is_no_such_version(db: Database, actors: Actors, file: FileRow) -> None:
    with pytest.raises(NotFound) as refusal:
        db.write_blocking(download, actors.max, file.id, 7)
    assert refusal.value.code == "version_not_found"


def test_only_admins_change_and_only_their_own(db: Database, actors: Actors, file: FileRow) -> None:
    for actor in (actors.max, actors.uma, actors.vic):
        with pytest.raises(Forbidden):
            db.write_blocking(change, actor, file.id, FileChange(content=NEW))
        with pytest.raises(Forbidden):
            db.write_blocking(delete, actor, file.id)
    for actor, file_id in ((actors.eve, file.id), (actors.ada, MISSING)):
        with pytest.raises(NotFound):
            db.write_blocking(change, actor, file_id, FileChange(content=NEW))
        with pytest.raises(NotFound):
            db.write_blocking(delete, actor, file_id)
        with pytest.raises(NotFound):
            db.write_blocking(list_uses, actor, file_id)


def test_a_file_in_use_stays(db: Database, actors: Actors, file: FileRow) -> None:
    db.write_blocking(use, actors.ada, file.id)
    assert [link.name for link in db.write_blocking(list_uses, actors.max, file.id)] == ["greet"]
    with pytest.raises(Conflict, match="greet") as refusal:
        db.write_blocking(delete, actors.ada, file.id)
    assert refusal.value.code == "file_in_use"
    db.write_blocking(lambda tx: tx.execute("update tasks set deleted_at = 1"))
    db.write_blocking(delete, actors.ada, file.id)
    with pytest.raises(NotFound):
        db.write_blocking(show, actors.ada, file.id)
    assert db.write_blocking(for_object, file.id)[-1].kind == "file.deleted"


def test_an_agent_downloads_only_its_own_host_s_work(
    db: Database, actors: Actors, file: FileRow
) -> None:
    host_id = db.write_blocking(use, actors.ada, file.id)
    other_file = db.write_blocking(create, actors.ada, FileChange(filename="b.sh", content=NEW))
    other_host = db.write_blocking(use, actors.ada, other_file.id, "web-2")
    own_actor = agent(actors.acme.id, host_id)
    assert db.write_blocking(download, own_actor, file.id).data == OLD
    for actor, file_id in (
        (own_actor, other_file.id),
        (agent(actors.acme.id, other_host), file.id),
        (agent(actors.globex.id, host_id), file.id),
        (own_actor, MISSING),
    ):
        with pytest.raises(NotFound) as refusal:
            db.write_blocking(download, actor, file_id)
        assert refusal.value.message == "There is no such file."
    with pytest.raises(Forbidden):
        db.write_blocking(show, own_actor, file.id)
