"""The headers of the response with a list."""

import msgspec

from belvedere.rest.listing import Field, Listable, read
from belvedere.rest.pagination import page_reply
from belvedere.rest.request import HttpRequest
from belvedere.rest.route import Route
from call_handler import no_body

IDS = ["0" * 23 + digit for digit in "12"]
THINGS = Listable(fields={"id": Field("id"), "name": Field("name")})


class Item(msgspec.Struct):
    id: str


async def nothing(request: HttpRequest) -> None:
    return None


def request_for(query: dict[str, list[str]]) -> HttpRequest:
    scope = {"type": "http", "path": "/acme/task", "headers": [], "query_string": b""}
    route = Route("GET", "/task", "viewer", nothing, "List tasks")
    return HttpRequest(scope, no_body, route, {}, query, prefix="/ops")


def page(query: dict[str, list[str]], total: int | None = None) -> dict[str, str]:
    records = [Item(item) for item in IDS]
    return page_reply(request_for(query), read(query, THINGS), records, total).headers


def test_the_total_is_a_header() -> None:
    assert page({}) == {}
    assert page({"count": ["true"]}, 7) == {"X-Total-Count": "7"}


def test_a_full_page_names_the_next() -> None:
    link = page({"limit": ["2"], "where[name]": ["a b"], "access_token": ["bvt_x"]})["Link"]
    assert link == f'</ops/acme/task?limit=2&where%5Bname%5D=a+b&after={IDS[1]}>; rel="next"'


def test_a_short_page_or_another_order_names_none() -> None:
    assert page({"limit": ["3"]}) == {}
    assert page({"limit": ["2"], "sort[name]": ["1"]}) == {}
