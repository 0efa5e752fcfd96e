"""No sequence of calls raises a principal: people who cooperate against acme, from inside and from
another organization, never get more than the highest level that one of them was given."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from belvedere.access import (
    Actor,
    Keyring,
    Level,
    authenticate,
    create_enrolment,
    create_token,
    operator,
)
from belvedere.access.actor import LEVEL_ORDER, MEMBER_LEVELS
from belvedere.access.credentials import one_time_links
from belvedere.access.customers import invitations, member_changes, password_recovery, service
from belvedere.access.customers.service import Customer
from belvedere.access.people import memberships, users
from belvedere.access.signin import login, sessions
from belvedere.base.errors import Refused
from belvedere.base.ids import new_id
from belvedere.db import Database
from people import find_account

THEIRS, HONEST = "the conspirators' hash", "an honest hash"
HIGHEST = Level.MANAGER


@dataclass
class World:
    db: Database
    keys: Keyring
    acme: Customer
    globex: Customer
    # People who may or may not exist yet; anyone may invite them.
    pool: list[str]
    held_links: list[str] = field(default_factory=list)
    held_tokens: list[str] = field(default_factory=list)
    honest_links: list[str] = field(default_factory=list)

    def run(self, verb: Any, *args: Any, **named: Any) -> Any:
        """The result of the operation, or None if it is refused."""
        try:
            return self.db.write_blocking(verb, *args, **named)
        except Refused:
            return None

    def conspirator(self, n: int) -> Actor | None:
        items = [self.run(authenticate, self.keys, token) for token in self.held_tokens]
        live = [actor for actor in items if actor is not None]
        return live[n % len(live)] if live else None

    def member(self, actor: Actor, n: int) -> memberships.Member:
        members = self.db.write_blocking(memberships.list_members, actor)
        return members[n % len(members)]

    def is_theirs(self, user_id: str) -> bool:
        user = self.db.write_blocking(users.find, user_id)
        if user is not None and user.password_hash == THEIRS:
            return True
        items = [self.run(authenticate, self.keys, token) for token in self.held_tokens]
        return any(actor is not None and actor.user_id == user_id for actor in items)


def begin(db: Database, keys: Keyring) -> World:
    mark = new_id()
    new_customers = [
        db.write_blocking(
            service.create_customer,
            keys,
            f"{name}-{mark}",
            f"{owner}-{mark}@x.test",
            reserved=frozenset(),
            password_hash=password,
        )
        for name, owner, password in (("acme", "olga", HONEST), ("globex", "eve", THEIRS))
    ]
    acme, globex = (item.customer for item in new_customers)
    world = World(db, keys, acme, globex, [f"p{n}-{mark}@x.test" for n in range(3)])
    at_acme = operator(acme)
    db.write_blocking(
        member_changes.add_member, at_acme, f"ada-{mark}@x.test", Level.ADMIN, password_hash=HONEST
    )
    inside = [
        db.write_blocking(
            member_changes.add_member,
            at_acme,
            f"{level}-{mark}@x.test",
            level,
            password_hash=THEIRS,
        )
        for level in (Level.MANAGER, Level.USER, Level.VIEWER)
    ]
    for member in (*inside, new_customers[1].owner):
        world.held_tokens.append(
            db.write_blocking(sessions.begin, keys, member.user_id, None, "", "")[1]
        )
    return world


def attack_invite(world: World, a: int, b: int, level: Level) -> None:
    actor = world.conspirator(a)
    if actor is not None:
        email = world.pool[b % len(world.pool)]
        invitation = world.run(invitations.invite, world.keys, actor, email, "", level, [])
        world.held_links += [invitation.token] if invitation else []


def attack_change(world: World, a: int, b: int, level: Level) -> None:
    actor = world.conspirator(a)
    if actor is not None:
        world.run(member_changes.change, actor, world.member(actor, b).id, level=level)


def attack_disable(world: World, a: int, b: int, level: Level) -> None:
    actor = world.conspirator(a)
    if actor is not None:
        expected = level is Level.VIEWER
        world.run(member_changes.change, actor, world.member(actor, b).id, enabled=expected)


def attack_remove(world: World, a: int, b: int, level: Level) -> None:
    actor = world.conspirator(a)
    if actor is not None:
        world.run(member_changes.remove, actor, world.member(actor, b).id)


def attack_link(world: World, a: int, b: int, level: Level) -> None:
    actor = world.conspirator(a)
    if actor is not None:
        link = world.run(password_recovery.issue_link, world.keys, actor, world.member(actor, b).id)
        world.held_links += [link[1]] if link else []


def attack_redeem(world: World, a: int, b: int, level: Level) -> None:
    if not world.held_links:
        return
    token = world.held_links[a % len(world.held_links)]
    greeting = world.run(invitations.link_details, world.keys, token)
    if greeting is None:
        return
    if greeting.kind == one_time_links.RESET:
        world.run(password_recovery.redeem_reset, world.keys, token, THEIRS, "")
    elif greeting.password_hash in (None, THEIRS):
        password_hash = greeting.password_hash
        result = world.run(invitations.accept, world.keys, token, password_hash, THEIRS, "")
        world.held_tokens += [result.token] if result else []


def attack_sign_in(world: World, a: int, b: int, level: Level) -> None:
    names = [*world.pool, *(f"{rank}-{world.pool[0][3:]}" for rank in MEMBER_LEVELS)]
    user = world.run(find_account, names[a % len(names)])
    if user is not None and user.password_hash == THEIRS:
        place = (None, world.acme.name, world.globex.name)[b % 3]
        result = world.run(login.sign_in, world.keys, user, None, place, "", "")
        world.held_tokens += [result.token] if result else []


def attack_grab(world: World, a: int, b: int, level: Level) -> None:
    """Everything else that makes a credential or an owner."""
    actor = world.conspirator(a)
    if actor is None:
        return
    world.run(service.hand_over, actor, world.member(actor, b).id)
    token = world.run(create_token, world.keys, actor, "x")
    world.held_tokens += [token[1]] if token else []
    world.run(create_enrolment, world.keys, actor)
    switched = world.run(sessions.renew, world.keys, actor, world.acme.id)
    world.held_tokens += [switched[1]] if switched else []


def honest_invite(world: World, a: int, b: int, level: Level) -> None:
    email = world.pool[a % len(world.pool)]
    invitation = world.run(
        invitations.invite, world.keys, operator(world.acme), email, "", level, []
    )
    world.honest_links += [invitation.token] if invitation else []


def honest_accept(world: World, a: int, b: int, level: Level) -> None:
    """An honest person uses a link, possibly one that a conspirator created and kept a copy of."""
    texts = [*world.honest_links, *world.held_links]
    if not texts:
        return
    token = texts[a % len(texts)]
    greeting = world.run(invitations.link_details, world.keys, token)
    if greeting is not None and greeting.password_hash in (None, HONEST):
        password_hash = greeting.password_hash
        world.run(invitations.accept, world.keys, token, password_hash, HONEST, "")


def honest_change(world: World, a: int, b: int, level: Level) -> None:
    """An admin who promotes only people whose identity is proved."""
    actor = operator(world.acme)
    member = world.member(actor, b)
    if not world.is_theirs(member.user_id):
        world.run(member_changes.change, actor, member.id, level=level)


def honest_admit(world: World, a: int, b: int, level: Level) -> None:
    email = world.pool[a % len(world.pool)]
    user = world.run(find_account, email)
    if user is None or not world.is_theirs(user.id):
        world.run(member_changes.add_member, operator(world.acme), email, level)


MOVES = (
    attack_invite,
    attack_change,
    attack_disable,
    attack_remove,
    attack_link,
    attack_redeem,
    attack_sign_in,
    attack_grab,
    honest_invite,
    honest_accept,
    honest_change,
    honest_admit,
)


def check(world: World) -> None:
    for token in world.held_tokens:
        actor = world.run(authenticate, world.keys, token)
        if actor is not None and actor.customer_id == world.acme.id:
            assert LEVEL_ORDER.index(actor.level) <= LEVEL_ORDER.index(HIGHEST)
    for member in world.db.write_blocking(memberships.list_members, operator(world.acme)):
        if world.is_theirs(member.user_id) and member.invited_at is None:
            assert LEVEL_ORDER.index(Level(member.level)) <= LEVEL_ORDER.index(HIGHEST)


STEP = st.tuples(
    st.sampled_from(MOVES), st.integers(0, 11), st.integers(0, 11), st.sampled_from(MEMBER_LEVELS)
)
ADMIN, USER = Level.ADMIN, Level.USER


def play(db: Database, keys: Keyring, steps: list[Any]) -> None:
    world = begin(db, keys)
    for move, a, b, level in steps:
        move(world, a, b, level)
        check(world)


def test_permitted_operations_succeed(db: Database, keys: Keyring) -> None:
    """The conspirators are not powerless: what they are allowed to do works."""
    world = begin(db, keys)
    attack_invite(world, 0, 0, Level.MANAGER)
    attack_redeem(world, 0, 0, USER)
    assert len(world.held_tokens) == 5
    attack_link(world, 0, 3, USER)
    assert len(world.held_links) == 2
    check(world)


# Each of these succeeded before a rule prevented it.
KEPT_LINK = [
    (attack_invite, 0, 0, USER),
    (honest_change, 0, 5, ADMIN),
    (attack_redeem, 0, 0, USER),
]
FIRST_PASSWORD = [
    (honest_admit, 0, 0, ADMIN),
    (attack_invite, 3, 0, USER),
    (attack_redeem, 0, 0, USER),
]
SQUATTED = [
    (attack_invite, 3, 0, USER),
    (honest_invite, 0, 0, ADMIN),
    (attack_redeem, 0, 0, USER),
    (honest_accept, 0, 0, USER),
    (attack_sign_in, 0, 1, USER),
]
KEPT_RESET = [
    (attack_invite, 3, 0, USER),
    (honest_accept, 0, 0, USER),
    (attack_link, 3, 1, USER),
    (honest_invite, 0, 0, ADMIN),
    (honest_accept, 0, 0, USER),
    (attack_redeem, 1, 0, USER),
]


@example(KEPT_LINK)
@example(FIRST_PASSWORD)
@example(SQUATTED)
@example(KEPT_RESET)
@given(st.lists(STEP, max_size=25))
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@pytest.mark.limit(180)
def test_no_sequence_of_operations_raises_a_level(
    db: Database, keys: Keyring, steps: list[Any]
) -> None:
    play(db, keys, steps)
