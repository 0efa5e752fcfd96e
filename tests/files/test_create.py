"""Storing files, and reading them back."""

import hashlib

import pytest

from belvedere.access import Actor
from belvedere.base.errors import Forbidden, Invalid, NotFound
from belvedere.db import Database, Tx
from belvedere.files import FileChange, content_of, create, store_content
from belvedere.files.model import FileKind, to_record
from belvedere.files.service import MAX_CONTENT, download, list_page, show, versions
from belvedere.files.store import FILES
from belvedere.rest.listing import read
from event_rows import for_object
from people import Actors

MISSING = "0" * 24
SCRIPT = FileChange(filename="hello.sh", content=b"#!/bin/sh\necho hello\n")


def test_a_file_is_created(db: Database, actors: Actors) -> None:
    file = db.write_blocking(create, actors.ada, SCRIPT)
    actual_file = to_record(db.write_blocking(show, actors.max, file.id), "acme")
    assert (actual_file.id, actual_file.also_id, actual_file.kind) == (file.id, file.id, "Script")
    assert (actual_file.filename, actual_file.extension, actual_file.size) == ("hello.sh", "sh", 21)
    assert actual_file.md5 == hashlib.md5(b"#!/bin/sh\necho hello\n").hexdigest()
    assert db.write_blocking(download, actors.max, file.id).data == SCRIPT.content


def test_creating_a_file_writes_an_event_and_an_audit_entry(db: Database, actors: Actors) -> None:
    file = db.write_blocking(create, actors.ada, SCRIPT)
    assert [e.kind for e in db.write_blocking(for_object, file.id)] == ["file.created"]
    file_versions = db.write_blocking(versions, actors.max, file.id)
    assert [(item.version, item.created_by) for item in file_versions] == [(1, "ada@acme.test")]


@pytest.mark.parametrize("content", [b"", b"\0\xff\xfe", bytes(range(256)) * 300])
def test_any_bytes_are_returned_unchanged(db: Database, actors: Actors, content: bytes) -> None:
    file = db.write_blocking(create, actors.ada, FileChange(filename="data.bin", content=content))
    assert file.kind == "File"
    assert db.write_blocking(download, actors.ada, file.id).data == content


def test_equal_contents_are_stored_once(db: Database, actors: Actors) -> None:
    file = db.write_blocking(create, actors.ada, SCRIPT)
    two = db.write_blocking(create, actors.eve, SCRIPT)
    assert file.sha256 == two.sha256
    assert db.write_blocking(lambda tx: tx.value("select count(*) from blobs")) == 1


def test_contents_are_found_by_their_hash(db: Database) -> None:
    def store_and_read(tx: Tx) -> tuple[bytes | None, bytes | None]:
        return content_of(tx, store_content(tx, b"abc")), content_of(tx, "0" * 64)

    assert db.write_blocking(store_and_read) == (b"abc", None)


@pytest.mark.parametrize(
    "file_change",
    [
        FileChange(filename="a.sh"),
        FileChange(content=b"x"),
        FileChange(filename="..", content=b"x"),
        FileChange(filename="a", content=b"x", kind="Program"),
        FileChange(filename="a", content=b"x", mimetype="text"),
        FileChange(filename="a", content=b"x", tags=["\n"]),
        FileChange(filename="a", content=b"x", description="\0"),
        FileChange(filename="a", content=bytes(MAX_CONTENT + 1)),
    ],
)
def test_bad_input_keeps_nothing(db: Database, actors: Actors, file_change: FileChange) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(create, actors.ada, file_change)
    assert db.write_blocking(lambda tx: tx.value("select count(*) from files")) == 0
    assert db.write_blocking(lambda tx: tx.value("select count(*) from blobs")) == 0


def test_only_admins_store_and_managers_read(db: Database, actors: Actors) -> None:
    for actor in (actors.max, actors.uma, actors.vic):
        with pytest.raises(Forbidden):
            db.write_blocking(create, actor, SCRIPT)
    file = db.write_blocking(create, actors.ada, SCRIPT)
    listing = read({}, FILES)
    for actor in (actors.uma, actors.vic):
        for verb in (show, download, versions):
            with pytest.raises(Forbidden):
                db.write_blocking(verb, actor, file.id)
        with pytest.raises(Forbidden):
            db.write_blocking(list_page, actor, listing)


@pytest.mark.parametrize("verb", [show, download, versions])
def test_objects_of_another_organization_are_not_found(
    db: Database, actors: Actors, verb: object
) -> None:
    file = db.write_blocking(create, actors.ada, SCRIPT)
    pairs: list[tuple[Actor, str]] = [(actors.eve, file.id), (actors.ada, MISSING)]
    for actor, file_id in pairs:
        with pytest.raises(NotFound) as refusal:
            db.write_blocking(verb, actor, file_id)  # type: ignore[arg-type]
        assert refusal.value.message == "There is no such file."


def test_lists_are_filtered_and_sealed_off(db: Database, actors: Actors) -> None:
    db.write_blocking(create, actors.ada, SCRIPT)
    db.write_blocking(create, actors.ada, FileChange(filename="logo.png", content=b"png"))

    def names(actor: Actor, query: dict[str, list[str]], kind: FileKind | None = None) -> list[str]:
        rows, _ = db.write_blocking(list_page, actor, read(query, FILES), kind)
        return [row.filename for row in rows]

    assert names(actors.max, {}) == ["hello.sh", "logo.png"]
    assert names(actors.max, {}, FileKind.SCRIPT) == ["hello.sh"]
    assert names(actors.max, {"where[size][$lt]": ["10"]}) == ["logo.png"]
    assert names(actors.max, {"sort[filename]": ["-1"]}) == ["logo.png", "hello.sh"]
    assert names(actors.eve, {}) == []
    rows, total = db.write_blocking(
        list_page, actors.max, read({"count": ["1"], "limit": ["1"]}, FILES)
    )
    assert (len(rows), total) == (1, 2)
