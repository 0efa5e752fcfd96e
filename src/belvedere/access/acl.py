"""Who may see and run one record: the ACL rows of tasks, workflows, indicators and monitors."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level, require
from belvedere.access.people import naming
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx

MAX_ENTRIES = 1_000
# Characters of an invalid entry in the response.
MAX_SHOWN = 254
ACTIONS = ("add", "remove")


class Acl(msgspec.Struct, frozen=True, gc=False):
    """The entries of one record. `pending`: addresses among them that no member has yet."""

    entries: list[str]
    pending: list[str]


class _Person(msgspec.Struct):
    member_id: str
    user_id: str
    email: str
    username: str
    tags: str


def acl_of(tx: Tx, customer_id: str, object: str, object_id: str) -> list[str]:
    """E-mails and member tags, in lower case and in order."""
    rows = tx.rows(
        "select entry from acl where customer_id = ? and object = ? and object_id = ?"
        " order by entry",
        customer_id,
        object,
        object_id,
    )
    return [entry for (entry,) in rows]


def read_acl(tx: Tx, customer_id: str, object: str, object_id: str) -> Acl:
    return with_pending(tx, customer_id, {"": acl_of(tx, customer_id, object, object_id)})[""]


def with_pending(tx: Tx, customer_id: str, acls: dict[str, list[str]]) -> dict[str, Acl]:
    """The ACLs of several records, by the same keys."""
    addresses = {entry for entries in acls.values() for entry in entries if _is_address(entry)}
    pending = addresses - _member_addresses(tx, customer_id, addresses)
    return {
        key: Acl(entries, [entry for entry in entries if entry in pending] if pending else [])
        for key, entries in acls.items()
    }


def _is_address(entry: str) -> bool:
    # A tag, key:value, may contain an @.
    return "@" in entry and ":" not in entry


def _member_addresses(tx: Tx, customer_id: str, addresses: set[str]) -> set[str]:
    if not addresses:
        return set()
    rows = tx.rows(
        "select u.email from members m join users u on u.id = m.user_id"
        f" where m.customer_id = ? and u.email in {tx.dialect.in_texts}",
        customer_id,
        msgspec.json.encode(sorted(addresses)).decode(),
    )
    return {email for (email,) in rows}


def replace_acl(
    tx: Tx, actor: Actor, object: str, object_id: str, users: Sequence[str]
) -> list[str]:
    """Make these the only entries."""
    require(actor, Level.MANAGER)
    _lock(tx, actor.customer_id)
    return _save(tx, actor, object, object_id, set(resolve_entries(tx, actor.customer_id, users)))


def change_acl(
    tx: Tx, actor: Actor, object: str, object_id: str, action: str, users: Sequence[str]
) -> list[str]:
    """Add entries, or remove them."""
    require(actor, Level.MANAGER)
    if action not in ACTIONS:
        raise Invalid(
            'The action must be "add" or "remove".', faults=(Fault("action", "add, remove"),)
        )
    if not users:
        raise Invalid("Name at least one user.", faults=(Fault("users", "is empty"),))
    _lock(tx, actor.customer_id)
    current = set(acl_of(tx, actor.customer_id, object, object_id))
    # Somebody who has left can still be removed: an existing entry needs no member.
    removable = current if action == "remove" else set()
    named = set(resolve_entries(tx, actor.customer_id, users, removable))
    return _save(
        tx, actor, object, object_id, current | named if action == "add" else current - named
    )


def delete_acl(tx: Tx, customer_id: str, object: str, object_id: str) -> None:
    """For a record that is being deleted: its own event and audit row say enough."""
    tx.execute(
        "delete from acl where customer_id = ? and object = ? and object_id = ?",
        customer_id,
        object,
        object_id,
    )


def resolve_entries(
    tx: Tx,
    customer_id: str,
    users: Sequence[str],
    current_entries: set[str] | frozenset[str] = frozenset(),
) -> list[str]:
    """Each entry of an ACL as it is stored. An e-mail address that no member has is stored too, and
    takes effect when a member with that address joins: members are compared by their address."""
    return _resolve(tx, customer_id, users, current_entries, takes_addresses=True)


def resolve(
    tx: Tx,
    customer_id: str,
    users: Sequence[str],
    current_entries: set[str] | frozenset[str] = frozenset(),
) -> list[str]:
    """Each entry as it is stored: a member's e-mail, or a tag that some member has. Entries in
    `current_entries` need no member."""
    return _resolve(tx, customer_id, users, current_entries, takes_addresses=False)


def _resolve(
    tx: Tx,
    customer_id: str,
    users: Sequence[str],
    current_entries: set[str] | frozenset[str],
    *,
    takes_addresses: bool,
) -> list[str]:
    _check_length(len(users))
    if not users:
        return []
    names = _names(tx, customer_id)
    entries = [
        _entry(text, names, current_entries) or (_address(text) if takes_addresses else None)
        for text in users
    ]
    faults = tuple(
        Fault(f"users[{n}]", f"{users[n][:MAX_SHOWN]!r} is neither a member nor a member tag")
        for n, entry in enumerate(entries)
        if entry is None
    )
    if faults:
        raise Invalid(
            "Some users are not members of the organization. Nothing was changed.",
            code="unknown_members",
            faults=faults,
        )
    return list(dict.fromkeys(entry for entry in entries if entry is not None))


def visible_filter(
    actor: Actor, object: str, column: str, *, open_when_empty: bool = False
) -> tuple[str, list[Any]]:
    """`may_see` as a predicate on the column that holds the record's id, for lists."""
    if actor.sees_all:
        return "1 = 1", []
    if not actor.level.reaches(Level.VIEWER):
        return "1 = 0", []
    of_object = "select object_id from acl where customer_id = ? and object = ?"
    params: list[Any] = [actor.customer_id, object]
    entries = actor.entries
    named = (
        f"{column} in ({of_object} and entry in ({', '.join('?' * len(entries))}))"
        if entries
        else "1 = 0"
    )
    named_params = [*params, *entries] if entries else []
    if not open_when_empty:
        return named, named_params
    return f"({named} or {column} not in ({of_object}))", [*named_params, *params]


def _names(tx: Tx, customer_id: str) -> dict[str, str]:
    """Every name that an entry may have, and the entry that is stored for it."""
    people = tx.all(
        _Person,
        "select m.id, m.user_id, u.email, u.username, m.tags from members m"
        " join users u on u.id = m.user_id where m.customer_id = ?",
        customer_id,
    )
    names: dict[str, str] = {}
    for person in people:
        for name in (person.member_id, person.user_id, person.email, person.username):
            names[name.lower()] = person.email
        for tag in msgspec.json.decode(person.tags, type=list[str]):
            names[tag.lower()] = tag.lower()
    return names


def _entry(
    user: str, names: dict[str, str], current_entries: set[str] | frozenset[str]
) -> str | None:
    text = user.strip().lower()
    entry = names.get(text)
    return text if entry is None and text in current_entries else entry


def _address(text: str) -> str | None:
    """Normalized like the addresses of members, so that both can be compared."""
    try:
        return naming.email(text)
    except Invalid:
        return None


def _check_length(count: int) -> None:
    if count > MAX_ENTRIES:
        raise Invalid(f"An ACL can have at most {MAX_ENTRIES} entries.", code="acl_too_long")


def _lock(tx: Tx, customer_id: str) -> None:
    # The second of two concurrent changes of one list must start from what the first has saved.
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", customer_id)


def _save(tx: Tx, actor: Actor, object: str, object_id: str, entries: set[str]) -> list[str]:
    customer_id = actor.customer_id
    before = acl_of(tx, customer_id, object, object_id)
    after = sorted(entries)
    if before == after:
        return after
    if len(after) > len(before):
        _check_length(len(after))
    delete_acl(tx, customer_id, object, object_id)
    tx.execute_many(
        "insert into acl (customer_id, object, object_id, entry) values (?, ?, ?, ?)"
        " on conflict do nothing",
        [(customer_id, object, object_id, entry) for entry in after],
    )
    audit.record(tx, actor, f"{object}.acl", object, object_id, {"acl": before}, {"acl": after})
    events.append(tx, customer_id, f"{object}.acl_changed", object_id, {"acl": after})
    return after
