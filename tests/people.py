"""The fixed people of the tests: acme with one member of each level, and Eve of globex who must see
nothing."""

from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level, audit
from belvedere.access.audit import AuditFilter, AuditRow
from belvedere.access.crypto import password_hash
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import member_changes, service
from belvedere.access.customers.service import Customer
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.access.people.users import User
from belvedere.access.signin import sessions
from belvedere.db import Tx

PASSWORD = "larch-otter-violin"
# Argon2id is slow on purpose; all members share one hash.
PASSWORD_HASH = password_hash.digest(PASSWORD)
ADDRESS = "192.0.2.1"

# Below Olga, the owner.
LEVELS = {
    "ada": Level.ADMIN,
    "max": Level.MANAGER,
    "uma": Level.USER,
    "vic": Level.VIEWER,
}


@dataclass(frozen=True)
class Actors:
    """Everyone as the actor that an operation gets; `tokens` has a session of each for HTTP."""

    acme: Customer
    globex: Customer
    olga: Actor
    ada: Actor
    max: Actor
    uma: Actor
    vic: Actor
    eve: Actor
    tokens: dict[str, str]


def assemble(tx: Tx, keys: Keyring) -> Actors:
    """Create both organizations through the operator's own operations."""
    acme, olga = _create_customer(tx, keys, "acme", "olga@acme.test")
    globex, _ = _create_customer(tx, keys, "globex", "gus@globex.test")
    people = {"olga": olga}
    for name, level in LEVELS.items():
        people[name] = _admit(tx, acme, f"{name}@acme.test", level)
    people["eve"] = _admit(tx, globex, "eve@globex.test", Level.ADMIN)
    names = {acme.id: acme.name, globex.id: globex.name}
    entered = {
        name: _enter(tx, keys, member, names[member.customer_id]) for name, member in people.items()
    }
    actors = {name: actor for name, (actor, _) in entered.items()}
    tokens = {name: token for name, (_, token) in entered.items()}
    return Actors(acme, globex, tokens=tokens, **actors)


def _create_customer(tx: Tx, keys: Keyring, name: str, owner: str) -> tuple[Customer, Member]:
    customer = service.create_customer(
        tx, keys, name, owner, reserved=frozenset(), password_hash=PASSWORD_HASH
    )
    return customer.customer, customer.owner


def _admit(tx: Tx, customer: Customer, email: str, level: Level) -> Member:
    operator = service.operator(customer)
    return member_changes.add_member(tx, operator, email, level, password_hash=PASSWORD_HASH)


def _enter(tx: Tx, keys: Keyring, member: Member, customer: str) -> tuple[Actor, str]:
    session, token = sessions.begin(tx, keys, member.user_id, customer, ADDRESS, "tests")
    actor = memberships.actor_for(member, customer, ADDRESS)
    return msgspec.structs.replace(actor, credential_id=session.id), token


def list_audit_entries(
    tx: Tx, actor: Actor, limit: int = 100, filters: AuditFilter | None = None
) -> list[AuditRow]:
    """The newest entries first."""
    listing = audit.to_listing(filters or AuditFilter(), limit)
    return audit.read_page(tx, actor, listing, None, None).records


def find_account(tx: Tx, identifier: str) -> User | None:
    """The first account with this e-mail or user name."""
    return next(iter(users.find_by_name(tx, identifier)), None)
