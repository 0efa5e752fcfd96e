"""Members: levels, tags, disabling, removing."""

from typing import Any

import pytest

from belvedere import events
from belvedere.access import Actor, Keyring, Level, acl_of, authenticate, replace_acl
from belvedere.access.audit import AuditFilter
from belvedere.access.credentials import one_time_links, tokens
from belvedere.access.customers import member_changes
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.access.signin import sessions
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.db.signals import ACCESS_CHANGED, Signal
from people import Actors, find_account, list_audit_entries


def change(db: Database, actor: Actor, target: Actor, **expected: Any) -> Member:
    return db.write_blocking(
        lambda tx: member_changes.change(tx, actor, target.member_id, **expected)
    )


def test_level_and_tags_of_a_member_are_changed(db: Database, actors: Actors) -> None:
    changed = change(db, actors.max, actors.vic, level=Level.USER, tags=["Team:Blue"])
    assert (changed.level, changed.tag_list, changed.version) == ("user", ["team:blue"], 2)
    (event,) = [
        event for event in db.write_blocking(events.after, 0, 0) if event.kind == "member.changed"
    ]
    assert event.object_id == actors.vic.member_id
    (row,) = db.write_blocking(
        list_audit_entries, actors.ada, 100, AuditFilter(object_id=actors.vic.member_id)
    )[:1]
    assert (row.action, row.actor_name) == ("member.change", "max@acme.test")
    assert '"level":"viewer"' in (row.before or "")
    assert '"level":"user"' in (row.after or "")


def test_all_members_are_listed_and_no_one_else(db: Database, actors: Actors) -> None:
    members = db.write_blocking(memberships.list_members, actors.vic)
    assert {item.email for item in members} == {
        f"{name}@acme.test" for name in ("olga", "ada", "max", "uma", "vic")
    }


# Who changes whom to which level, and whether it is allowed.
GRANTS = [
    ("max", "vic", Level.MANAGER, True),
    ("max", "vic", Level.ADMIN, False),
    ("max", "vic", Level.OWNER, False),
    ("max", "max", Level.ADMIN, False),
    ("max", "ada", Level.VIEWER, False),
    ("max", "olga", Level.VIEWER, False),
    ("ada", "max", Level.ADMIN, True),
    ("ada", "max", Level.OWNER, False),
    ("ada", "ada", Level.OWNER, False),
    ("ada", "olga", Level.ADMIN, False),
    ("olga", "ada", Level.OWNER, True),
    ("uma", "vic", Level.VIEWER, False),
    ("uma", "uma", Level.MANAGER, False),
    ("vic", "vic", Level.USER, False),
]


@pytest.mark.parametrize(("who", "whom", "level", "may"), GRANTS)
def test_granting_or_changing_a_level_above_the_own_is_refused(
    db: Database, actors: Actors, who: str, whom: str, level: Level, may: bool
) -> None:
    actor, target = getattr(actors, who), getattr(actors, whom)
    if may:
        assert change(db, actor, target, level=level).level == level
        return
    with pytest.raises(Forbidden):
        change(db, actor, target, level=level)
    assert (
        db.write_blocking(memberships.find, actors.acme.id, target.member_id).level == target.level
    )


@pytest.mark.parametrize("whom", ["ada", "olga"])
def test_a_manager_neither_disables_nor_removes_those_above(
    db: Database, actors: Actors, whom: str
) -> None:
    target = getattr(actors, whom)
    with pytest.raises(Forbidden):
        change(db, actors.max, target, enabled=False)
    with pytest.raises(Forbidden):
        change(db, actors.max, target, tags=["team:blue"])
    with pytest.raises(Forbidden):
        db.write_blocking(member_changes.remove, actors.max, target.member_id)


def test_a_token_changes_no_members(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(tokens.create_token, keys, actors.ada, "ci")
    token = db.write_blocking(authenticate, keys, text)
    assert token is not None
    with pytest.raises(Forbidden):
        change(db, token, actors.vic, tags=["team:blue"])
    with pytest.raises(Forbidden):
        db.write_blocking(member_changes.remove, token, actors.vic.member_id)


def test_another_organization_finds_no_members(db: Database, actors: Actors) -> None:
    for member_id in (actors.vic.member_id, new_id()):
        with pytest.raises(NotFound) as caught:
            db.write_blocking(member_changes.change, actors.eve, member_id, level=Level.USER)
        assert caught.value.message == "There is no such member."
        with pytest.raises(NotFound):
            db.write_blocking(member_changes.remove, actors.eve, member_id)


@pytest.mark.parametrize("expected", [{"level": Level.ADMIN}, {"enabled": False}, None])
def test_the_last_owner_stays(
    db: Database, actors: Actors, expected: dict[str, object] | None
) -> None:
    with pytest.raises(Conflict) as caught:
        if expected is None:
            db.write_blocking(member_changes.remove, actors.olga, actors.olga.member_id)
        else:
            change(db, actors.olga, actors.olga, **expected)
    assert caught.value.code == "last_owner"


def test_one_of_two_owners_may_leave(db: Database, actors: Actors) -> None:
    change(db, actors.olga, actors.ada, level=Level.OWNER)
    assert change(db, actors.olga, actors.olga, level=Level.VIEWER).level == "viewer"


@pytest.mark.parametrize("expected", [{"level": Level.USER}, {"enabled": False}])
def test_a_new_level_or_being_disabled_ends_the_sessions(
    db: Database, keys: Keyring, actors: Actors, expected: dict[str, object]
) -> None:
    signals: set[Signal] = set()
    db.on_signals = signals.update
    change(db, actors.max, actors.vic, **expected)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    assert db.write_blocking(authenticate, keys, actors.tokens["uma"]) is not None
    assert ACCESS_CHANGED in signals


def test_new_tags_end_no_session_and_count_at_once(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    change(db, actors.max, actors.vic, tags=["team:blue"])
    actor = db.write_blocking(authenticate, keys, actors.tokens["vic"])
    assert actor is not None
    assert actor.tags == ("team:blue",)


def test_a_disabled_member_cannot_begin_a_session(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    change(db, actors.max, actors.vic, enabled=False)
    with pytest.raises(Forbidden):
        db.write_blocking(sessions.begin, keys, actors.vic.user_id, "acme", "", "")
    change(db, actors.max, actors.vic, enabled=True)
    db.write_blocking(sessions.begin, keys, actors.vic.user_id, "acme", "", "")


def test_a_member_who_was_demoted_meanwhile_is_refused(db: Database, actors: Actors) -> None:
    change(db, actors.ada, actors.max, level=Level.VIEWER)
    with pytest.raises(Forbidden):
        change(db, actors.max, actors.vic, level=Level.MANAGER)


def test_a_stale_edit_is_refused(db: Database, actors: Actors) -> None:
    change(db, actors.max, actors.vic, tags=["a:b"], version=1)
    with pytest.raises(Stale):
        change(db, actors.max, actors.vic, tags=["c:d"], version=1)


def test_bad_tags_change_nothing(db: Database, actors: Actors) -> None:
    with pytest.raises(Invalid):
        change(db, actors.max, actors.vic, level=Level.USER, tags=["bad"])
    assert (
        db.write_blocking(memberships.find, actors.acme.id, actors.vic.member_id).level == "viewer"
    )


def test_changing_nothing_is_no_event(db: Database, actors: Actors) -> None:
    assert change(db, actors.max, actors.vic, level=Level.VIEWER).version == 1
    kinds = [event.kind for event in db.write_blocking(events.after, 0, 0)]
    assert "member.changed" not in kinds


def test_a_removed_member_is_removed_from_the_acls(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    task_id = new_id()
    db.write_blocking(replace_acl, actors.max, "task", task_id, ["uma", "vic"])
    db.write_blocking(member_changes.remove, actors.max, actors.vic.member_id)
    assert db.write_blocking(acl_of, actors.acme.id, "task", task_id) == ["uma@acme.test"]
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    with pytest.raises(NotFound):
        db.write_blocking(memberships.find, actors.acme.id, actors.vic.member_id)
    assert db.write_blocking(users.find, actors.vic.user_id) is not None


# (table, its other columns) of rows that a person may have.
OWN = (
    ("preferences", "settings, updated_at", "'{}', 0"),
    ("second_factors", "box, created_at", "'x', 0"),
    ("recovery_codes", "digest", "'x'"),
)


@pytest.mark.parametrize(("table", "names", "values"), OWN)
def test_an_account_without_a_password_is_deleted_with_its_settings(
    db: Database, actors: Actors, table: str, names: str, values: str
) -> None:
    """A person who signs in through a provider has no password, but may have changed settings of
    the console."""

    def prepare(tx: Tx) -> None:
        user_id = actors.vic.user_id
        tx.execute("update users set password_hash = null where id = ?", user_id)
        tx.execute("delete from sessions where user_id = ?", user_id)
        tx.execute(f"insert into {table} (user_id, {names}) values (?, {values})", user_id)

    db.write_blocking(prepare)
    db.write_blocking(member_changes.remove, actors.max, actors.vic.member_id)
    assert db.write_blocking(users.find, actors.vic.user_id) is None
    assert db.write_blocking(lambda tx: tx.rows(f"select 1 from {table}")) == []


def test_an_account_that_another_organization_uses_stays(db: Database, actors: Actors) -> None:
    def prepare(tx: Tx) -> None:
        user_id = actors.vic.user_id
        tx.execute("update users set password_hash = null where id = ?", user_id)
        tx.execute("delete from sessions where user_id = ?", user_id)
        tx.execute(
            "insert into providers (id, customer_id, name, issuer, client_id, box, scopes, domains,"
            " level, level_claim, level_map, enabled, endpoints, version, created_at, updated_at)"
            " values ('p', ?, 'P', 'i', 'c', '', '', '', '', '', '', 1, '', 1, 0, 0)",
            actors.globex.id,
        )
        tx.execute("insert into identities values ('p', 'vic', ?, 0)", user_id)

    db.write_blocking(prepare)
    db.write_blocking(member_changes.remove, actors.max, actors.vic.member_id)
    assert db.write_blocking(users.find, actors.vic.user_id) is not None


def test_a_change_invalidates_the_links_that_were_sent(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(
        one_time_links.create, keys, "reset", actors.vic.user_id, actors.acme.id, "max"
    )
    change(db, actors.ada, actors.vic, level=Level.ADMIN)
    assert db.write_blocking(one_time_links.find, keys, text) is None


def test_only_the_operator_admits_without_a_link(db: Database, actors: Actors) -> None:
    with pytest.raises(Forbidden):
        db.write_blocking(member_changes.add_member, actors.olga, "new@acme.test", Level.USER)


def test_two_people_with_the_same_local_part_get_two_user_names(db: Database) -> None:
    first = db.write_blocking(users.find_or_create, "sam@a.test")
    second = db.write_blocking(users.find_or_create, "sam@b.test")
    assert (first.username, second.username) == ("sam", "sam-2")
    assert db.write_blocking(find_account, "SAM") == first
    assert db.write_blocking(find_account, "Sam@B.test") == second
    assert db.write_blocking(find_account, "sam\0") is None
