"""Every handler declares the type of body that its route decodes."""

import typing
from types import NoneType

import pytest

from belvedere.access.request import Request
from belvedere.rest.route import Route
from belvedere.server.routes import ROUTES

# Handlers that serve several routes or wrap another handler declare no type of their own.
GENERIC = ("<locals>",)


def _id(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", ROUTES, ids=_id)
def test_a_handler_declares_the_body_of_its_route(route: Route) -> None:
    name = route.handler.__qualname__
    if any(part in name for part in GENERIC):
        return
    hints = typing.get_type_hints(route.handler)
    hints.pop("return", None)
    (declared,) = hints.values()
    assert typing.get_origin(declared) is Request, f"{name} takes {declared}"
    body = NoneType if route.raw_body or route.body is None else route.body
    (argument,) = typing.get_args(declared)
    assert body == argument or body in typing.get_args(argument), f"{name}: {argument}, not {body}"
