"""A profile in parts, as programs of the original ask for it."""

from collections.abc import Callable

import msgspec

from belvedere.access.actor import Actor


class Principal(msgspec.Struct):
    id: str
    name: str
    username: str
    email: str


class Organization(msgspec.Struct):
    id: str
    name: str


class Membership(msgspec.Struct):
    id: str
    user_id: str
    customer_id: str
    customer_name: str
    credential: str
    tags: list[str]


def _member(actor: Actor, _: str) -> Membership:
    return Membership(
        actor.member_id,
        actor.user_id,
        actor.customer_id,
        actor.customer_name,
        actor.level,
        list(actor.tags),
    )


PARTS: dict[str, Callable[[Actor, str], msgspec.Struct]] = {
    "principal": lambda actor, name: Principal(actor.user_id, name, actor.username, actor.email),
    "organization": lambda actor, _: Organization(actor.customer_id, actor.customer_name),
    "member": _member,
}


def asked(query: dict[str, list[str]]) -> frozenset[str]:
    """Names that nobody knows ask for nothing."""
    said = [*query.get("scopes[]", ()), *query.get("scopes", ())]
    return frozenset(name for text in said for name in text.split(",")) & PARTS.keys()
