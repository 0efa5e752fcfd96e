"""Accounts of people, identified by their e-mail address. Members of organizations refer to
them."""

import itertools

import msgspec

from belvedere.access.people import naming
from belvedere.base.errors import Unauthenticated
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.db.ports import Port

MAX_IDENTIFIER = 254
# Accounts of one name that a password is compared with; a sign-in that names the organization needs
# one.
MAX_ACCOUNTS = 8
# (account): whether a provider of any organization knows it.
has_identity: Port[[Tx, str], bool] = Port("users.has_identity")


class User(msgspec.Struct, frozen=True):
    id: str
    email: str
    username: str
    name: str
    password_hash: str | None
    enabled: int
    # Empty: the person's own account. Else the organization that created it: the account can only
    # sign in there, because nobody has proved to other organizations who uses it.
    scope: str
    # What proves that the owner of the address set the password: mail, operator; empty: nothing.
    proof: str


def find(tx: Tx, user_id: str) -> User | None:
    return tx.one(User, f"select {columns(User)} from users where id = ?", user_id)


def require(tx: Tx, user_id: str) -> User:
    user = find(tx, user_id)
    if user is None:
        raise Unauthenticated("This account no longer exists.")
    return user


def name_key(identifier: str) -> str | None:
    """The form in which e-mail addresses and user names are compared; None for an invalid one."""
    text = identifier.strip().lower()
    return text if len(text) <= MAX_IDENTIFIER and text.isprintable() else None


def find_by_name(tx: Tx, identifier: str, customer_name: str | None = None) -> list[User]:
    """The accounts with this e-mail or user name, the person's own first. With the name of an
    organization only accounts of its members, if there are any."""
    text = name_key(identifier)
    if text is None:
        return []
    # One statement, whatever it finds: the time must not reveal which names exist.
    rows = tx.rows(
        f"select {columns(User)}, case when exists (select 1 from members m"
        " join customers c on c.id = m.customer_id"
        " where m.user_id = users.id and c.name_key = ?) then 1 else 0 end as inside"
        " from users where (email = ? or username = ?) and (scope = ''"
        " or exists (select 1 from members m where m.user_id = users.id))"
        # Members of the named organization first: accounts elsewhere must not push them out.
        " order by inside desc, scope, id limit ?",
        naming.customer_key(customer_name or "") or "",
        text,
        text,
        MAX_ACCOUNTS,
    )
    inside = [User(*row[:-1]) for row in rows if row[-1]]
    return inside or [User(*row[:-1]) for row in rows]


def max_accounts_per_name(tx: Tx) -> int:
    """The highest number of accounts with a password that one name has. Each sign-in compares this
    number of hashes, so that the time does not reveal how many accounts a name has."""
    most = "select max(n) from (select count(*) as n from users where password_hash is not null"
    maxima = [tx.value(f"{most} group by {name}) as counted") for name in ("email", "username")]
    return min(max(1, *(maximum or 0 for maximum in maxima)), MAX_ACCOUNTS)


def find_own_account(tx: Tx, email: str) -> User | None:
    """The person's own account with this e-mail."""
    sql = f"select {columns(User)} from users where email = ? and scope = ''"
    return tx.one(User, sql, email)


def find_or_create(tx: Tx, email: str, name: str = "", scope: str = "") -> User:
    """The account with this e-mail in this scope; a new one has no password."""
    address, person = naming.email(email), naming.person(name)
    sql = f"select {columns(User)} from users where email = ? and scope = ?"
    while True:
        user = tx.one(User, sql, address, scope)
        if user is not None and lock(tx, user.id):
            return user
        # Does nothing when another server was faster.
        tx.execute(
            "insert into users (id, email, username, name, scope, created_at, updated_at)"
            " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
            new_id(),
            address,
            _free_username(tx, naming.username_from(address), scope),
            person,
            scope,
            tx.now,
            tx.now,
        )


def _free_username(tx: Tx, proposal: str, scope: str) -> str:
    """Unique among the accounts of the scope, and among all members where it is an organization."""
    numbers = itertools.chain([""], (f"-{n}" for n in itertools.count(2)))
    return next(f"{proposal}{n}" for n in numbers if not _is_taken(tx, f"{proposal}{n}", scope))


def _is_taken(tx: Tx, username: str, scope: str, except_id: str = "") -> bool:
    row = tx.row(
        "select 1 from users where username = ? and id <> ? and (scope = ? or exists"
        " (select 1 from members m where m.user_id = users.id and m.customer_id = ?))",
        username,
        except_id,
        scope,
        scope,
    )
    return row is not None


def set_scope(tx: Tx, user: User, scope: str) -> None:
    """Make the account the person's own, or one of an organization."""
    tx.execute(
        "update users set scope = ?, proof = '', username = ?, updated_at = ? where id = ?",
        scope,
        _free_username(tx, user.username, scope)
        if _is_taken(tx, user.username, scope, except_id=user.id)
        else user.username,
        tx.now,
        user.id,
    )


def rename_conflicting_account(tx: Tx, user: User, customer_id: str) -> None:
    """Rename an account of the organization that has the user name of a person who joins: one name
    in an ACL must not mean two people."""
    for (other,) in tx.rows(
        "select id from users where username = ? and scope = ?", user.username, customer_id
    ):
        tx.execute(
            "update users set username = ? where id = ?",
            _free_username(tx, user.username, customer_id),
            other,
        )


def replace_account(tx: Tx, customer_id: str, former_id: str, user_id: str) -> None:
    """Record that the membership of the former account belongs to another one now."""
    if former_id == user_id:
        return
    tx.execute(
        "update former_accounts set user_id = ? where customer_id = ? and user_id = ?",
        user_id,
        customer_id,
        former_id,
    )
    tx.execute(
        "insert into former_accounts (customer_id, former_id, user_id) values (?, ?, ?)"
        " on conflict (customer_id, former_id) do update set user_id = excluded.user_id",
        customer_id,
        former_id,
        user_id,
    )


def account_ids(tx: Tx, customer_id: str, user_id: str) -> frozenset[str]:
    """The account, and those that its membership belonged to before."""
    rows = tx.rows(
        "select former_id from former_accounts where user_id = ? and customer_id = ?",
        user_id,
        customer_id,
    )
    return frozenset([user_id, *(former_id for (former_id,) in rows)])


def former_accounts(tx: Tx, customer_id: str) -> dict[str, list[str]]:
    """The accounts that memberships of the organization belonged to before, by current account."""
    former: dict[str, list[str]] = {}
    for user_id, former_id in tx.rows(
        "select user_id, former_id from former_accounts where customer_id = ?", customer_id
    ):
        former.setdefault(user_id, []).append(former_id)
    return former


def current_account(tx: Tx, customer_id: str, user_id: str) -> str:
    """The account that the membership of this one belongs to now."""
    current_id: str | None = tx.value(
        "select user_id from former_accounts where customer_id = ? and former_id = ?",
        customer_id,
        user_id,
    )
    return current_id or user_id


def lock(tx: Tx, user_id: str) -> bool:
    """Lock the row until the commit; False when it was deleted meanwhile. An account is not deleted
    while another organization invites the same person."""
    return tx.row(f"select id from users where id = ?{tx.dialect.lock_rows}", user_id) is not None


def set_password(tx: Tx, user_id: str, password_hash: str | None, proof: str = "") -> None:
    tx.execute(
        "update users set password_hash = ?, proof = ?, updated_at = ? where id = ?",
        password_hash,
        proof,
        tx.now,
        user_id,
    )


def record_login(tx: Tx, user_id: str) -> None:
    tx.execute("update users set login_at = ? where id = ?", tx.now, user_id)


def exchange_password(tx: Tx, user_id: str, current_hash: str | None, password_hash: str) -> bool:
    """Set the password unless it changed since `current_hash` was read; whether it was set."""
    changed = tx.execute(
        "update users set password_hash = ?, updated_at = ?"
        " where id = ? and coalesce(password_hash, '') = ?",
        password_hash,
        tx.now,
        user_id,
        current_hash or "",
    )
    return changed == 1


# Rows that belong to one account and are deleted with it.
_CREDENTIALS = ("links", "tickets", "recovery_codes", "second_factors")
_OWN = (*_CREDENTIALS, "preferences")
_UNUSED = (
    "password_hash is null"
    " and not exists (select 1 from members where user_id = users.id)"
    " and not exists (select 1 from sessions where user_id = users.id)"
)


def retire(tx: Tx, user_id: str) -> None:
    """Disable the account of an organization that the person has left: its credentials are deleted,
    and a later invitation of the same e-mail address creates another account."""
    for table in _CREDENTIALS:
        tx.execute(f"delete from {table} where user_id = ?", user_id)
    tx.execute(
        "update users set scope = id, password_hash = null, updated_at = ? where id = ?",
        tx.now,
        user_id,
    )


def delete_unused(tx: Tx, user_id: str) -> None:
    """Delete an account that has no password and no membership any more."""
    lock(tx, user_id)
    if tx.row(f"select 1 from users where id = ? and {_UNUSED}", user_id) is None:
        return
    # A provider of another organization may still know the account.
    if has_identity(tx, user_id):
        return
    for table in _OWN:
        tx.execute(f"delete from {table} where user_id = ?", user_id)
    tx.execute("delete from users where id = ?", user_id)
