"""Renaming, tagging, disabling, draining and deleting hosts; listing them."""

from typing import Any

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin.authentication import authenticate
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from belvedere.db import Database, Tx
from belvedere.db.signals import ACCESS_CHANGED, Signal, host_ready
from belvedere.hosts import change, connect, delete, store
from belvedere.hosts.model import to_record
from belvedere.hosts.service import HostChange, list_page, show
from belvedere.rest.listing import read
from event_rows import for_object
from people import ADDRESS, Actors

from .conftest import Enrol, hello

MISSING = "0" * 24


def test_a_host_is_changed(db: Database, actors: Actors, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    host_change = HostChange(hostname="db-1", tags=["blue", "rack:7"], enable=False, draining=True)
    changed = db.write_blocking(change, actors.ada, host_id, host_change)
    host = to_record(db.write_blocking(show, actors.vic, host_id), "acme")
    assert (host.hostname, host.tags, host.version) == ("db-1", ["blue", "rack:7"], 2)
    assert (host.enable, host.disabled, host.draining) == (False, True, True)
    assert changed.version == 2


def test_a_change_signals_the_host_and_is_audited(
    db: Database, actors: Actors, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id

    def change_signals(tx: Tx) -> set[Signal]:
        change(tx, actors.ada, host_id, HostChange(enable=False))
        return set(tx.signals)

    assert host_ready(host_id) in db.write_blocking(change_signals)
    assert db.write_blocking(for_object, host_id)[-1].kind == "host.changed"
    before, after = db.write_blocking(_last_audit, host_id)
    assert '"enable":true' in before
    assert '"enable":false' in after


def _last_audit(tx: Tx, host_id: str) -> tuple[Any, ...]:
    row = tx.row("select before, after from audit where object_id = ? order by id desc", host_id)
    assert row is not None
    return row


def test_an_edit_without_a_change_creates_no_version(
    db: Database, actors: Actors, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    assert db.write_blocking(change, actors.ada, host_id, HostChange(enable=True)).version == 1
    assert len(db.write_blocking(for_object, host_id)) == 1


def test_a_name_is_unique(db: Database, actors: Actors, enrol_host: Enrol) -> None:
    enrol_host("web-1")
    other = enrol_host("web-2", "machine-2").host_id
    with pytest.raises(Conflict) as refusal:
        db.write_blocking(change, actors.ada, other, HostChange(hostname="WEB-1"))
    assert refusal.value.code == "hostname_taken"
    renamed = db.write_blocking(change, actors.ada, other, HostChange(hostname="Web-2"))
    assert renamed.hostname == "Web-2"


def test_a_stale_change_is_refused(db: Database, actors: Actors, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    db.write_blocking(change, actors.ada, host_id, HostChange(tags=["a"]), 1)
    with pytest.raises(Stale):
        db.write_blocking(change, actors.ada, host_id, HostChange(tags=["b"]), 1)


@pytest.mark.parametrize(
    "host_change",
    [
        HostChange(hostname="a/b"),
        HostChange(tags=[""]),
        HostChange(tags=["x" * 65]),
        HostChange(tags=["a\nb"]),
        HostChange(tags=[str(n) for n in range(65)]),
    ],
)
def test_bad_input_changes_nothing(
    db: Database, actors: Actors, enrol_host: Enrol, host_change: HostChange
) -> None:
    host_id = enrol_host().host_id
    with pytest.raises(Invalid):
        db.write_blocking(change, actors.ada, host_id, host_change)
    assert db.write_blocking(show, actors.ada, host_id).version == 1


def test_only_admins_change_and_only_their_own(
    db: Database, actors: Actors, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    for actor in (actors.max, actors.uma, actors.vic):
        with pytest.raises(Forbidden):
            db.write_blocking(change, actor, host_id, HostChange(enable=False))
        with pytest.raises(Forbidden):
            db.write_blocking(delete, actor, host_id)
    for actor, expected in ((actors.eve, host_id), (actors.ada, MISSING)):
        for verb in (show, delete):
            with pytest.raises(NotFound) as refusal:
                db.write_blocking(verb, actor, expected)
            assert refusal.value.message == "There is no such host."
        with pytest.raises(NotFound):
            db.write_blocking(change, actor, expected, HostChange(enable=False))


def test_a_deleted_host_is_not_found_and_its_agent_is_refused(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol
) -> None:
    enrolment = enrol_host()

    def change_signals(tx: Tx) -> set[Signal]:
        delete(tx, actors.ada, enrolment.host_id)
        return set(tx.signals)

    assert {host_ready(enrolment.host_id), ACCESS_CHANGED} <= db.write_blocking(change_signals)
    assert db.write_blocking(authenticate, keys, enrolment.token) is None
    with pytest.raises(NotFound):
        db.write_blocking(show, actors.ada, enrolment.host_id)
    with pytest.raises(NotFound):
        db.write_blocking(delete, actors.ada, enrolment.host_id)
    assert db.write_blocking(for_object, enrolment.host_id)[-1].kind == "host.deleted"


def test_lists_are_filtered_and_sealed_off(db: Database, actors: Actors, enrol_host: Enrol) -> None:
    first = enrol_host("web-1").host_id
    second = enrol_host("web-2", "machine-2").host_id
    db.write_blocking(connect, second, hello("machine-2"), ADDRESS)

    def names(actor: Any, query: dict[str, list[str]]) -> list[str]:
        rows, _ = db.write_blocking(list_page, actor, read(query, store.listable(db.dialect)))
        return [row.hostname for row in rows]

    assert names(actors.vic, {}) == ["web-1", "web-2"]
    assert names(actors.vic, {"filter[where][hostname]": ["web-2"]}) == ["web-2"]
    assert names(actors.vic, {"where[state]": ["online"]}) == ["web-2"]
    assert names(actors.vic, {"where[state]": ["offline"]}) == ["web-1"]
    assert names(actors.vic, {"where[disabled]": ["true"]}) == []
    assert names(actors.vic, {"after": [first]}) == ["web-2"]
    assert names(actors.eve, {}) == []
    rows, total = db.write_blocking(
        list_page,
        actors.vic,
        read({"count": ["true"], "limit": ["1"]}, store.listable(db.dialect)),
    )
    assert (len(rows), total) == (1, 2)


@pytest.mark.parametrize("enabled", [0, 1])
@pytest.mark.parametrize("connected, gone", [(None, None), (None, 1), (1, None), (1, 1)])
@pytest.mark.parametrize("draining", [0, 1])
def test_the_state_is_the_same_in_sql(
    db: Database,
    actors: Actors,
    enrol_host: Enrol,
    enabled: int,
    connected: int | None,
    gone: int | None,
    draining: int,
) -> None:
    host_id = enrol_host().host_id

    def set_and_read(tx: Tx) -> tuple[str, str]:
        tx.execute(
            "update hosts set enabled = ?, draining = ?, connected_at = ?, gone_at = ?",
            enabled,
            draining,
            connected,
            gone,
        )
        in_sql: str = tx.value(f"select {store.STATE} from hosts where id = ?", host_id)
        return in_sql, show(tx, actors.vic, host_id).state

    in_sql, in_python = db.write_blocking(set_and_read)
    assert in_sql == in_python
