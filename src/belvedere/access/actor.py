"""Who sends a request, and the levels of access."""

from collections.abc import Collection
from enum import StrEnum

import msgspec

from belvedere.base.errors import Forbidden


class Level(StrEnum):
    """Levels of access, lowest first. `agent` is not part of this order."""

    ANONYMOUS = "anonymous"
    VIEWER = "viewer"
    USER = "user"
    MANAGER = "manager"
    ADMIN = "admin"
    OWNER = "owner"
    AGENT = "agent"

    def reaches(self, minimum: str) -> bool:
        """Whether this level is at least `minimum`, a level or its name."""
        if Level.AGENT in (self, minimum):
            return self == minimum
        return _RANK[self] >= _RANK[minimum]


LEVEL_ORDER = (
    Level.ANONYMOUS,
    Level.VIEWER,
    Level.USER,
    Level.MANAGER,
    Level.ADMIN,
    Level.OWNER,
)
_RANK: dict[str, int] = {level: rank for rank, level in enumerate(LEVEL_ORDER)}
MEMBER_LEVELS = (Level.VIEWER, Level.USER, Level.MANAGER, Level.ADMIN, Level.OWNER)
_MANAGERS = frozenset(level for level in Level if level.reaches(Level.MANAGER))
_ADMINS = frozenset(level for level in Level if level.reaches(Level.ADMIN))


class Actor(msgspec.Struct, frozen=True):
    """Who makes this request, in which organization. Every operation that checks permissions gets
    one."""

    customer_id: str
    customer_name: str
    level: Level
    # member, token, agent, secret, trigger (an event or a call), operator (on the server's own
    # machine), anonymous
    kind: str
    user_id: str = ""
    username: str = ""
    email: str = ""
    # Member tags as key:value; an ACL can name these, the e-mail address and the user name.
    tags: tuple[str, ...] = ()
    # The token or session that authenticated this actor.
    credential_id: str = ""
    member_id: str = ""
    host_id: str = ""
    address: str = ""
    # The provider through which the person signed in. It is trusted for its own organization only.
    provider_id: str = ""
    # Where no person acts: the users who count as having started it (jobs/starters.py).
    starters: tuple[str, ...] = ()
    # Where no person acts: kind, id and name of what starts it, such as "webhook 65a… crm-export".
    source: str = ""

    @property
    def sees_all(self) -> bool:
        return self.level in _MANAGERS

    @property
    def runs_all(self) -> bool:
        return self.level in _ADMINS

    @property
    def entries(self) -> tuple[str, ...]:
        """The ACL entries that name this actor, in lower case."""
        return tuple(entry.lower() for entry in (self.email, self.username, *self.tags) if entry)

    @property
    def principal(self) -> str:
        """Whose idempotency keys these are."""
        return f"{self.kind}:{self.user_id or self.credential_id}"


def trigger_actor(
    customer_id: str,
    customer_name: str,
    address: str = "",
    starters: tuple[str, ...] = (),
    source: str = "",
) -> Actor:
    """The actor of a trigger, which is not a person. It may run everything: the person who attached
    a task to the trigger was allowed to."""
    return Actor(
        *(customer_id, customer_name, Level.ADMIN, "trigger"),
        address=address,
        starters=starters,
        source=source,
    )


def may_see(actor: Actor, acl: Collection[str], *, open_when_empty: bool = False) -> bool:
    """Whether the actor may see the record with this ACL. With `open_when_empty` (monitors), every
    viewer may while the ACL is empty."""
    if not actor.level.reaches(Level.VIEWER):
        return False
    if actor.sees_all or (open_when_empty and not acl):
        return True
    return _is_named(actor, acl)


def may_run(actor: Actor, acl: Collection[str]) -> bool:
    """Whether the actor may run the record with this ACL, and change its jobs."""
    if actor.runs_all:
        return True
    return actor.level.reaches(Level.USER) and _is_named(actor, acl)


def _is_named(actor: Actor, acl: Collection[str]) -> bool:
    return not {entry.lower() for entry in acl}.isdisjoint(actor.entries)


def require(actor: Actor, level: Level) -> None:
    """Refuse an actor below `level`."""
    if not actor.level.reaches(level):
        raise Forbidden(f"This needs the level {level}; yours is {actor.level}.", code="level")


def require_person(actor: Actor) -> None:
    """Refuse credentials of programs: a leaked token must not be able to make itself permanent."""
    if actor.kind not in ("member", "operator"):
        raise Forbidden(
            "Tokens cannot do this. Sign in as a member of the organization.", code="person_only"
        )
