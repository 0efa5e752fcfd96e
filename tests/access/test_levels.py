"""Levels, and what an ACL grants: pure rules, as truth tables."""

import pytest

from belvedere.access import Actor, Level, may_run, may_see, require, require_person
from belvedere.access.actor import LEVEL_ORDER
from belvedere.base.errors import Forbidden

V, U, M, A, OWN, AGENT, NOBODY = (
    Level.VIEWER,
    Level.USER,
    Level.MANAGER,
    Level.ADMIN,
    Level.OWNER,
    Level.AGENT,
    Level.ANONYMOUS,
)


def actor(level: Level, kind: str = "member") -> Actor:
    return Actor(
        "c", "acme", level, kind, username="Uma", email="Uma@acme.test", tags=("team:Blue",)
    )


def test_a_higher_level_includes_a_lower_one() -> None:
    assert Level.ADMIN.reaches(Level.USER)
    assert not Level.USER.reaches(Level.ADMIN)


@pytest.mark.parametrize("level", LEVEL_ORDER)
@pytest.mark.parametrize("expected", LEVEL_ORDER)
def test_the_levels_are_ordered(level: Level, expected: Level) -> None:
    assert level.reaches(expected) is (LEVEL_ORDER.index(level) >= LEVEL_ORDER.index(expected))


@pytest.mark.parametrize("level", LEVEL_ORDER)
def test_an_agent_is_outside_the_order_of_levels(level: Level) -> None:
    assert AGENT.reaches(AGENT)
    assert not AGENT.reaches(level)
    assert not level.reaches(AGENT)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("expected", Level)
def test_a_route_may_name_the_level_as_a_string(level: Level, expected: Level) -> None:
    assert level.reaches(str(expected.value)) is level.reaches(expected)


@pytest.mark.parametrize("level", Level)
def test_managers_see_all_and_admins_run_all(level: Level) -> None:
    assert actor(level).sees_all is (level in (M, A, OWN))
    assert actor(level).runs_all is (level in (A, OWN))


# Level and ACL: may the actor see it, may the actor run it?
TRUTH = [
    (NOBODY, ["uma@acme.test"], False, False),
    (AGENT, ["uma@acme.test"], False, False),
    (V, [], False, False),
    (V, ["max@acme.test"], False, False),
    (V, ["uma@acme.test"], True, False),
    (V, ["uma"], True, False),
    (V, ["team:blue"], True, False),
    (V, ["team:red"], False, False),
    (U, [], False, False),
    (U, ["max@acme.test"], False, False),
    (U, ["uma@acme.test"], True, True),
    (U, ["UMA@ACME.TEST"], True, True),
    (U, ["team:blue"], True, True),
    (M, [], True, False),
    (M, ["max@acme.test"], True, False),
    (M, ["uma@acme.test"], True, True),
    (A, [], True, True),
    (A, ["max@acme.test"], True, True),
    (OWN, [], True, True),
]


@pytest.mark.parametrize(("level", "acl", "sees", "runs"), TRUTH)
def test_an_acl_grants_what_the_table_says(
    level: Level, acl: list[str], sees: bool, runs: bool
) -> None:
    assert may_see(actor(level), acl) is sees
    assert may_run(actor(level), acl) is runs


@pytest.mark.parametrize("level", [V, U, M, A, OWN])
def test_an_empty_acl_can_mean_open_to_every_viewer(level: Level) -> None:
    assert may_see(actor(level), [], open_when_empty=True)


@pytest.mark.parametrize("level", [NOBODY, AGENT])
def test_open_to_every_viewer_is_not_open_to_the_world(level: Level) -> None:
    assert not may_see(actor(level), [], open_when_empty=True)


def test_an_acl_that_names_others_closes_what_was_open() -> None:
    assert not may_see(actor(V), ["max@acme.test"], open_when_empty=True)


def test_a_level_that_is_too_low_is_refused() -> None:
    require(actor(M), Level.MANAGER)
    with pytest.raises(Forbidden):
        require(actor(U), Level.MANAGER)


@pytest.mark.parametrize("kind", ["token", "agent", "secret", "anonymous"])
def test_tokens_are_refused_where_a_person_is_required(kind: str) -> None:
    require_person(actor(A))
    require_person(actor(OWN, "operator"))
    with pytest.raises(Forbidden):
        require_person(actor(A, kind))
