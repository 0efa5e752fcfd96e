"""Schemathesis on every route, as every principal: no 5xx, no undescribed response, no access
without permission."""

import asyncio
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode

from belvedere.rest.route import Reply, Route
from belvedere.server.routes import ROUTES
from contract import valid_requests
from contract.fixtures_all_kinds import settle
from contract.matrix import PRINCIPALS, PathOwner, Principal
from contract.rollback_database import dry
from contract.schemathesis_runner import SchemathesisRun, letter_of, mend
from contract.serving import LogRecorder
from contract.world import World

POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
BY_ENDPOINT = {f"{route.method} {route.path}": route for route in ROUTES}
# Most requests name an existing record; None is a path that was generated.
PLACES = (PathOwner.OWN, PathOwner.OWN, PathOwner.OWN, PathOwner.OTHER, PathOwner.MISSING, None)
KINDS = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
# Mostly the type that the body has.
TYPES = (*[None] * len(KINDS), *KINDS)


@pytest.fixture
def swarm(world: World, watch: LogRecorder, quick_passwords: None) -> Iterator[SchemathesisRun]:
    """With a database that stores nothing, so that every request finds the same data."""
    fixtures = world.runtime.db.write_blocking(settle, world.runtime, world.actors, world.things)
    dry(world.runtime)
    world.runtime.secret_uses.limit = 1_000_000
    with asyncio.Runner() as runner:
        yield SchemathesisRun(world, fixtures, watch, runner)


def people(route: Route) -> list[Principal]:
    """An anonymous route does not depend on the principal."""
    names = ("anonymous", "admin") if route.level == "anonymous" else None
    return [principal for principal in PRINCIPALS if names is None or principal.name in names]


def run_operation(
    swarm: SchemathesisRun, operation: Any, mode: GenerationMode, examples: int
) -> None:
    v1 = operation.path.startswith("/{customer}/")
    endpoint = f"{operation.method.upper()} {operation.path.removeprefix('/{customer}')}"
    route = BY_ENDPOINT[endpoint]
    good = valid_requests.bodies(swarm.fixtures, swarm.fixtures.acme).get(endpoint)

    def address(principal: Principal, which: PathOwner) -> str:
        return valid_requests.address(
            route, swarm.fixtures, swarm.world.actors, principal, which, v1=v1
        )

    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode),
        which=st.sampled_from(PLACES),
        is_mended=st.booleans(),
        type_=st.sampled_from(TYPES),
        number=st.integers(0, 100),
    )
    def run_case(
        case: Case[Any], which: PathOwner | None, is_mended: bool, type_: str | None, number: int
    ) -> None:
        if is_mended:
            mend(case, good, number)
        if which is not None:
            case.query.pop("customer", None)
        letter = letter_of(case)
        if type_ is not None:
            letter.headers["content-type"] = type_
        for principal in people(route):
            prepared_case = letter if which is None else letter.to(address(principal, which))
            swarm.send(case, prepared_case, principal, which or PathOwner.MISSING)

    if settings().derandomize:
        # Examples of its own: otherwise all operations get the same paths, and these depend on the
        # modules that were imported before, from which Hypothesis collects constants.
        run_case = seed(zlib.crc32(operation.label.encode()))(run_case)
    try:
        run_case()
    except Unsatisfiable:
        # A route without parameters and body has no invalid requests.
        assert mode is NEGATIVE


def ask_all(
    swarm: SchemathesisRun, mode: GenerationMode, examples: int, *, styles: tuple[bool, ...]
) -> None:
    for get_all_operation in swarm.schema.get_all_operations():
        operation = get_all_operation.ok()
        if operation.path.startswith("/{customer}/") in styles:
            run_operation(swarm, operation, mode, examples)
    assert not swarm.faults, "\n".join(swarm.faults.values())
    # Otherwise no request reached an operation.
    assert swarm.statuses[200] > swarm.statuses.total() / 20, swarm.statuses


@pytest.mark.limit(300)
@pytest.mark.parametrize("mode", [POSITIVE, NEGATIVE])
def test_generated_requests_follow_the_schema(
    swarm: SchemathesisRun, engine: str, mode: GenerationMode
) -> None:
    """Each engine with the URL style that the other does not use."""
    v1 = (engine == "postgres") is (mode is POSITIVE)
    ask_all(swarm, mode, 1, styles=(v1,))


def fail(answer: Any) -> Reply:
    raise ValueError("on purpose")


FAULTS = {
    "500": ("belvedere.server.http.app._reply", fail),
    "not described": ("belvedere.server.http.app._reply", lambda answer: Reply({"strange": 1})),
    "no such status": ("belvedere.server.http.app._reply", lambda answer: Reply([], 202)),
    "not 403": ("belvedere.server.http.authentication.check_level", lambda actor, route: None),
}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_reported(
    swarm: SchemathesisRun, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    run_operation(swarm, swarm.schema["/api/token"]["GET"], POSITIVE, 2)
    assert swarm.faults


@pytest.mark.prove
@pytest.mark.limit(900)
@pytest.mark.parametrize("mode", [POSITIVE, NEGATIVE])
def test_many_requests_find_nothing(swarm: SchemathesisRun, mode: GenerationMode) -> None:
    ask_all(swarm, mode, 6, styles=(True, False))
    assert swarm.statuses.total() > 20_000
