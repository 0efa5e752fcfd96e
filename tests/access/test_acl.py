"""The ACL of a record: replaced, changed, cleared, and used as a filter."""

import asyncio
import itertools
from typing import Any

import pytest

from belvedere import events
from belvedere.access import (
    Actor,
    Level,
    acl_of,
    change_acl,
    delete_acl,
    may_see,
    replace_acl,
    visible_filter,
)
from belvedere.access.acl import MAX_ENTRIES
from belvedere.access.customers import member_changes
from belvedere.base.errors import Forbidden, Invalid
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from people import Actors, list_audit_entries

TASK = new_id()


def tag(db: Database, actors: Actors, who: Actor, *tags: str) -> None:
    db.write_blocking(member_changes.change, actors.ada, who.member_id, tags=list(tags))


def test_an_acl_is_replaced(db: Database, actors: Actors) -> None:
    acl = db.write_blocking(replace_acl, actors.max, "task", TASK, ["Vic@acme.test", "uma"])
    assert acl == ["uma@acme.test", "vic@acme.test"]
    assert db.write_blocking(acl_of, actors.acme.id, "task", TASK) == acl
    event = db.write_blocking(events.after, 0, 0)[-1]
    assert (event.kind, event.object_id) == ("task.acl_changed", TASK)
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.before, row.after) == (
        '{"acl":[]}',
        '{"acl":["uma@acme.test","vic@acme.test"]}',
    )


def test_entries_are_found_by_any_name(db: Database, actors: Actors) -> None:
    tag(db, actors, actors.vic, "team:blue")
    for entry in ("vic@acme.test", " VIC ", actors.vic.user_id, actors.vic.member_id):
        assert db.write_blocking(replace_acl, actors.max, "task", TASK, [entry]) == [
            "vic@acme.test"
        ]
    assert db.write_blocking(replace_acl, actors.max, "task", TASK, ["Team:Blue"]) == ["team:blue"]


def test_a_person_named_twice_is_added_once(db: Database, actors: Actors) -> None:
    assert db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic", "vic@acme.test"]) == [
        "vic@acme.test"
    ]


def test_unknown_entries_are_named_and_nothing_changes(db: Database, actors: Actors) -> None:
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"])
    expected = ["uma", "nobody", "eve@globex.test", "team:blue"]
    with pytest.raises(Invalid) as caught:
        db.write_blocking(replace_acl, actors.max, "task", TASK, expected)
    assert [fault.field for fault in caught.value.faults] == ["users[1]", "users[3]"]
    assert db.write_blocking(acl_of, actors.acme.id, "task", TASK) == ["vic@acme.test"]


def test_some_are_added_and_removed(db: Database, actors: Actors) -> None:
    def change(action: str, *users: str) -> list[str]:
        return db.write_blocking(change_acl, actors.max, "task", TASK, action, list(users))

    assert change("add", "vic", "uma") == ["uma@acme.test", "vic@acme.test"]
    assert change("add", "vic") == ["uma@acme.test", "vic@acme.test"]
    assert change("remove", "vic") == ["uma@acme.test"]
    assert change("remove", "vic") == ["uma@acme.test"]
    with pytest.raises(Invalid):
        change("remove", "nobody")


def test_a_tag_that_no_member_has_any_more_can_be_removed(db: Database, actors: Actors) -> None:
    tag(db, actors, actors.vic, "team:blue")
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["team:blue"])
    tag(db, actors, actors.vic)
    with pytest.raises(Invalid):
        db.write_blocking(change_acl, actors.max, "task", TASK, "add", ["team:blue"])
    assert db.write_blocking(change_acl, actors.max, "task", TASK, "remove", ["team:blue"]) == []


@pytest.mark.parametrize(("action", "users"), [("", ["vic"]), ("drop", ["vic"]), ("add", [])])
def test_a_change_without_an_action_or_users_is_refused(
    db: Database, actors: Actors, action: str, users: list[str]
) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(change_acl, actors.max, "task", TASK, action, users)


def test_an_acl_is_emptied(db: Database, actors: Actors) -> None:
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"])
    assert db.write_blocking(replace_acl, actors.max, "task", TASK, []) == []
    assert db.write_blocking(acl_of, actors.acme.id, "task", TASK) == []


def test_changing_nothing_is_no_event(db: Database, actors: Actors) -> None:
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"])
    before = len(db.write_blocking(events.after, 0, 0))
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"])
    assert len(db.write_blocking(events.after, 0, 0)) == before


@pytest.mark.parametrize("who", ["uma", "vic"])
def test_users_and_viewers_do_not_edit_an_acl(db: Database, actors: Actors, who: str) -> None:
    actor = getattr(actors, who)
    with pytest.raises(Forbidden):
        db.write_blocking(replace_acl, actor, "task", TASK, [])
    with pytest.raises(Forbidden):
        db.write_blocking(change_acl, actor, "task", TASK, "add", [actor.email])


def test_organizations_and_objects_are_apart(db: Database, actors: Actors) -> None:
    db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"])
    assert db.write_blocking(acl_of, actors.globex.id, "task", TASK) == []
    assert db.write_blocking(acl_of, actors.acme.id, "workflow", TASK) == []
    db.write_blocking(delete_acl, actors.globex.id, "task", TASK)
    assert db.write_blocking(acl_of, actors.acme.id, "task", TASK) == ["vic@acme.test"]


def test_an_acl_has_a_limited_length(db: Database, actors: Actors) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(replace_acl, actors.max, "task", TASK, ["vic"] * (MAX_ENTRIES + 1))


async def test_concurrent_additions_are_both_kept(db: Database, actors: Actors) -> None:
    await asyncio.gather(
        *(
            db.write(change_acl, actors.max, "task", TASK, "add", [name])
            for name in ("vic", "uma", "max", "ada", "olga")
        )
    )
    assert len(await db.read(acl_of, actors.acme.id, "task", TASK)) == 5


def select_things(tx: Tx, where: str, params: list[Any]) -> list[tuple[Any, ...]]:
    return tx.rows(f"select id from things where {where}", *params)


ACLS: tuple[list[str], ...] = (["uma@acme.test"], ["vic@acme.test", "team:blue"], ["team:red"], [])


@pytest.mark.parametrize("open_when_empty", [False, True])
def test_the_filter_shows_what_the_rule_allows(
    db: Database, actors: Actors, open_when_empty: bool
) -> None:
    """`visible` against `may_see`, for every kind of actor and several ACLs."""
    ids = [new_id() for _ in ACLS]

    def fill(tx: Tx) -> None:
        tx.execute("create table things (id text primary key)")
        tx.execute_many("insert into things (id) values (?)", [(item,) for item in ids])
        for item, acl in zip(ids, ACLS, strict=True):
            tx.execute_many(
                "insert into acl (customer_id, object, object_id, entry) values (?, ?, ?, ?)",
                [(actors.acme.id, "task", item, entry) for entry in acl],
            )

    db.write_blocking(fill)
    people = [
        Actor(actors.acme.id, "acme", level, "member", username="uma", email=email, tags=tags)
        for level, email, tags in itertools.product(
            Level, ("uma@acme.test", "Vic@acme.test", ""), ((), ("team:blue",), ("a:b", "team:red"))
        )
    ]
    for actor in people:
        where, params = visible_filter(actor, "task", "things.id", open_when_empty=open_when_empty)
        items = db.write_blocking(select_things, where, params)
        allowed = {
            item
            for item, acl in zip(ids, ACLS, strict=True)
            if may_see(actor, acl, open_when_empty=open_when_empty)
        }
        assert {item for (item,) in items} == allowed
