"""Lists in pages: Link is followed, also after an empty page."""

import pytest

from belvedere.client.http_client import Client
from fake_server import CannedResponse, FakeServer

NEXT = '</acme/api/audit?limit=3&after={}>; rel="next"'


def page(*ids: str, after: str = "") -> CannedResponse:
    headers = {"Link": NEXT.format(after)} if after else {}
    return CannedResponse([{"id": record_id} for record_id in ids], headers=headers)


def ids(server: FakeServer, limit: int | None) -> list[str]:
    with Client(server.url, "bvt_x", "acme") as client:
        return [record["id"] for record in client.read_list("/list", {"q": "x"}, limit)]


def test_an_empty_page_is_not_the_last(server: FakeServer) -> None:
    server.on("GET", "/list", page(after="f"), page("c", after="b"), page("a"))
    assert ids(server, 3) == ["c", "a"]
    requests = [(item.query["limit"], item.query.get("after")) for item in server.asked]
    assert requests == [("3", None), ("3", "f"), ("2", "b")]
    assert {item.query["q"] for item in server.asked} == {"x"}


def test_a_full_list_needs_no_further_page(server: FakeServer) -> None:
    server.on("GET", "/list", page("c", after="c"), page("b", after="b"), page("a"))
    assert ids(server, 2) == ["c", "b"] and len(server.asked) == 2


def test_without_a_limit_all_pages_are_read(server: FakeServer) -> None:
    server.on("GET", "/list", page("c", after="c"), page(after="b"), page("a"))
    assert ids(server, None) == ["c", "a"]
    assert "limit" not in server.asked[0].query


@pytest.mark.parametrize("link", ["", "nonsense", '</list?limit=3>; rel="next"', "<x>; rel=prev"])
def test_a_link_without_a_next_page_ends_the_list(server: FakeServer, link: str) -> None:
    server.on("GET", "/list", CannedResponse([{"id": "a"}], headers={"Link": link} if link else {}))
    assert ids(server, None) == ["a"]
