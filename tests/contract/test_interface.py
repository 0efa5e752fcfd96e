"""Every row of interface.md's tables, in both URL styles, by the lowest level that is allowed."""

import ast
from pathlib import Path

import pytest

from belvedere.base.errors import NotFound
from belvedere.server.http.routing import RouteMatch, Router
from belvedere.server.routes import ROUTES
from contract.interface import ELSEWHERE, ROWS
from contract.interface_case import CaseContext
from contract.interface_cases import SCENES
from contract.world import World

HERE = Path(__file__).parent
STYLES = (True, False)


@pytest.mark.parametrize("v1", STYLES, ids=["path", "query"])
@pytest.mark.parametrize("row", ROWS)
async def test_each_row_of_the_interface_is_called(world: World, row: str, v1: bool) -> None:
    scene = CaseContext(world, row, v1)
    await SCENES[row](scene)
    assert set(scene.answered) == {row}


def test_every_row_is_played() -> None:
    assert set(SCENES) == set(ROWS)


def test_every_row_is_a_route_with_the_level_of_the_interface() -> None:
    routes = {f"{route.method} {route.path}": route for route in ROUTES}
    assert {row: routes[row].level for row in ROWS} == ROWS
    assert {routes[row].style for row in ROWS} == {"both"}
    # Clients of TheEye compare with 200 and send fields that we do not have.
    assert all(routes[row].from_interface for row in ROWS)


@pytest.mark.parametrize("text", ELSEWHERE)
def test_rows_without_an_endpoint_name_tests_that_exist(text: str) -> None:
    for named in ELSEWHERE[text]:
        file, _, name = named.partition("::")
        tree = ast.parse((HERE / file).read_text())
        names = {item.name for item in tree.body if isinstance(item, ast.AsyncFunctionDef)}
        assert name in names, named


@pytest.mark.prove
@pytest.mark.limit(300)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("row", ROWS)
async def test_a_missing_route_is_detected(
    world: World, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    """Without the route of one style, its case fails and that of the other style does not."""
    match, walled = Router.match, True

    def match_other(table: Router, method: str, path: bytes) -> RouteMatch:
        route_match = match(table, method, path)
        if (
            f"{method} {route_match.route.path}" == row
            and (route_match.customer is not None) is walled
        ):
            raise NotFound("There is nothing at this path.", code="no_such_path")
        return route_match

    monkeypatch.setattr(Router, "match", match_other)
    for walled in STYLES:
        with pytest.raises(AssertionError):
            await SCENES[row](CaseContext(world, row, walled))
