"""Every route, every principal, every kind of id: the status is the one that the route declares."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from belvedere.db import Tx
from belvedere.jobs.output import artifacts
from belvedere.rest.route import Route
from belvedere.server.routes import ROUTES
from contract import valid_requests
from contract.client import Client, Response
from contract.fixtures_all_kinds import AllKinds, settle
from contract.matrix import (
    MAKES,
    OK,
    PRINCIPALS,
    PUBLIC,
    PathOwner,
    Principal,
    expected_status,
    is_by_link,
)
from contract.rollback_database import dry
from contract.world import World

only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
OWNER = next(principal for principal in PRINCIPALS if principal.name == "owner")


@dataclass(frozen=True)
class Cell:
    route: Route
    principal: Principal
    which: PathOwner
    v1: bool

    @property
    def gives_what_it_is_told(self) -> bool:
        """A public link is visible to everybody; and a title in a PUT is created again."""
        return is_by_link(self.route) or f"{self.route.method} {self.route.path}" in MAKES

    def __str__(self) -> str:
        style = "V1" if self.v1 else "V2"
        endpoint = f"{self.route.method} {self.route.path}"
        return f"{endpoint} ({style}) as {self.principal.name}, {self.which} id"


def cells() -> Iterator[Cell]:
    for route in ROUTES:
        for v1 in (False, True) if route.style == "both" else (False,):
            for principal in PRINCIPALS:
                for which in PathOwner if "{" in route.path else (PathOwner.OWN,):
                    yield Cell(route, principal, which, v1)


def _fence(tx: Tx, job_id: str) -> int:
    return int(tx.value("select fence from jobs where id = ?", job_id))


class MatrixWorld:
    """Data that no request changes, with one record of every kind."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.actors = world.actors
        self.fixtures: AllKinds = world.runtime.db.write_blocking(
            settle, world.runtime, world.actors, world.things
        )
        for place in (self.fixtures.acme, self.fixtures.globex):
            job_id = place.ids["job"]
            fence = world.runtime.db.write_blocking(_fence, job_id)
            world.runtime.logs.write_blocking(
                artifacts.close, fence, job_id, [[valid_requests.FILE, 0]]
            )
        dry(world.runtime)
        places = (self.fixtures.acme, self.fixtures.globex)
        self.bodies = {place.name: valid_requests.bodies(self.fixtures, place) for place in places}
        self._number = 0

    async def request(self, cell: Cell, replacement: tuple[str, str] = ("", "")) -> Response:
        """With one id in the path replaced by another."""
        self._number += 1
        client = Client(
            self.world.app,
            self.fixtures.tokens[cell.principal.name],
            # An error found for one principal does not stop the others.
            address=f"172.16.{self._number // 250}.{self._number % 250}",
            hangs_up=True,
            check=self.world.conformity,
            # As the console's own pages send it; without it a sign-in asks for confirmation.
            headers={"Sec-Fetch-Site": "same-origin"},
        )
        here, _ = valid_requests.home(self.fixtures, cell.principal)
        target = valid_requests.address(
            cell.route, self.fixtures, self.actors, cell.principal, cell.which, v1=cell.v1
        )
        body = self.bodies[here.name].get(f"{cell.route.method} {cell.route.path}", {})
        return await client.request(cell.route.method, target.replace(*replacement), body)


@pytest.fixture
def matrix_world(world: World, quick_passwords: None) -> MatrixWorld:
    return MatrixWorld(world)


def is_as_expected(answer: Response, expected: str) -> bool:
    if expected == OK:
        return answer.status not in (401, 403, 404, 405, 429)
    return str(answer.status) == expected


async def mismatches(matrix_world: MatrixWorld, asked: list[Cell]) -> list[str]:
    items = []
    for cell in asked:
        answer = await matrix_world.request(cell)
        expected = expected_status(cell.route, cell.principal, cell.which)
        if not is_as_expected(answer, expected):
            items.append(f"{cell}: {answer.status} {answer.body[:200]!r}, not {expected}")
    return items


@only_sqlite
@pytest.mark.limit(120)
async def test_every_cell_of_the_permission_matrix_is_right(matrix_world: MatrixWorld) -> None:
    texts = await mismatches(matrix_world, list(cells()))
    assert not texts, "\n".join([f"{len(texts)} cells are wrong", *texts[:40]])


@only_postgres
async def test_a_sample_says_the_same_on_postgresql(matrix_world: MatrixWorld) -> None:
    """The routes are the same code; the sample is for the checks of their operations."""
    texts = await mismatches(matrix_world, random.Random(7).sample(list(cells()), 700))
    assert not texts, "\n".join(texts[:40])


@only_sqlite
async def test_another_organizations_id_answers_like_a_missing_one(
    matrix_world: MatrixWorld,
) -> None:
    """Byte for byte, except for the request's own id."""
    for cell in cells():
        if cell.which is not PathOwner.OTHER or cell.gives_what_it_is_told:
            continue
        other = await matrix_world.request(cell)
        missing = await matrix_world.request(
            Cell(cell.route, cell.principal, PathOwner.MISSING, cell.v1)
        )
        assert _comparable(other) == _comparable(missing), str(cell)


@only_sqlite
async def test_another_organizations_id_within_an_own_object_answers_like_a_missing_one(
    matrix_world: MatrixWorld,
) -> None:
    """The first id of the path is the caller's own, only the second is not."""
    acme, globex = matrix_world.fixtures.acme, matrix_world.fixtures.globex
    routes = [route for route in ROUTES if "_id}" in route.path]
    assert len(routes) > 10
    for route in routes:
        [noun] = re.findall(r"\{(\w+)_id\}", route.path)
        cell = Cell(route, OWNER, PathOwner.OWN, v1=False)
        own_id = acme.ids[noun]
        other = await matrix_world.request(cell, (own_id, globex.ids[noun]))
        missing = await matrix_world.request(cell, (own_id, valid_requests.MISSING))
        assert other.status == 404 and _comparable(other) == _comparable(missing), str(cell)


@only_sqlite
def test_every_exception_of_isolation_is_a_route(world: World) -> None:
    paths = [route.path for route in ROUTES]
    assert [part for part in PUBLIC if not any(part in path for path in paths)] == []
    assert {f"{route.method} {route.path}" for route in ROUTES} >= MAKES


def _comparable(answer: Response) -> tuple[int, dict[str, str], bytes]:
    request_id = answer.headers["x-request-id"]
    body = answer.body.replace(request_id.encode(), b"")
    return answer.status, {**answer.headers, "x-request-id": ""}, body


@only_sqlite
async def test_nothing_of_acme_reaches_another_organization(matrix_world: MatrixWorld) -> None:
    canaries = [
        *matrix_world.fixtures.acme.ids.values(),
        "secret-of-web-1",
        "secret of web-1",
        "@acme.test",
    ]
    canaries.remove(matrix_world.fixtures.acme.ids["file"])
    eve = next(
        principal for principal in PRINCIPALS if principal.name == "admin of another organization"
    )
    # Signing in is anonymous: there Eve has credentials of acme's members.
    sent_cells = [
        cell for cell in cells() if cell.principal is eve and cell.route.level != "anonymous"
    ]
    for cell in sent_cells:
        if cell.gives_what_it_is_told:
            continue
        text = (await matrix_world.request(cell)).body.decode()
        assert not [word for word in canaries if word in text], str(cell)


@only_sqlite
def test_every_route_that_reads_a_body_is_tested_with_one(world: World) -> None:
    fixtures = MatrixWorld(world).fixtures
    texts = set(valid_requests.bodies(fixtures, fixtures.acme))
    reading = {f"{route.method} {route.path}" for route in ROUTES if route.body is not None}
    assert texts == reading


@only_sqlite
def test_every_id_in_a_path_is_the_id_of_something_we_have(world: World) -> None:
    fixtures = MatrixWorld(world).fixtures
    nouns = {valid_requests.noun(route) for route in ROUTES if "{id}" in route.path}
    assert nouns <= {*fixtures.acme.ids, "session", "notification", "view", "invitation"}
