"""The credential and the organization that a request names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from belvedere.base.errors import Invalid
from belvedere.rest.request import HttpRequest
from belvedere.server.http import authentication
from belvedere.server.routes import ROUTES
from call_handler import no_body

TOKENS = ["", "bvt_a", "bvt_b", "\xfc"]
AUTHORIZATION = st.sampled_from(
    ["", "Bearer", "Bearer ", "bearer bvt_a", "BEARER  bvt_a ", "Basic eA==", "Bearer\tbvt_a"]
)
NAMES = st.sampled_from([None, "", "acme", "ACME", "Acme", "globex", "straße", "STRASSE", "İ", "i̇"])


@given(AUTHORIZATION | st.none(), st.lists(st.sampled_from(TOKENS), min_size=1) | st.none())
def test_a_request_has_one_token_or_none(said: str | None, asked: list[str] | None) -> None:
    headers = {} if said is None else {b"authorization": said.encode("latin-1")}
    query = {} if asked is None else {"access_token": asked}
    text = authentication.bearer(headers)
    names = {*(asked or ()), *(() if text is None else (text,))}
    if len(names) > 1:
        with pytest.raises(Invalid) as refusal:
            authentication.explicit_token(headers, query)
        assert refusal.value.code == "two_tokens"
    else:
        assert authentication.explicit_token(headers, query) == (names.pop() if names else None)


@pytest.mark.parametrize("level", ["anonymous", "user"])
def test_a_cookie_counts_when_nothing_is_shown(level: str) -> None:
    route = next(item for item in ROUTES if item.level == level)
    headers = {b"cookie": b"a=b; belvedere=bvs_c"}
    token = authentication.token_of(headers, {}, route, secure=False)
    assert token == (None if level == "anonymous" else "bvs_c")
    assert (
        authentication.token_of(headers, {"access_token": ["bvt_a"]}, route, secure=False)
        == "bvt_a"
    )
    assert authentication.token_of(headers, {"access_token": [""]}, route, secure=False) == ""


@given(st.lists(NAMES, max_size=4))
def test_an_organization_has_one_name(names: list[str | None]) -> None:
    texts = {name.lower() for name in names if name}
    if len(texts) > 1:
        with pytest.raises(Invalid) as refusal:
            authentication.single_customer(*names)
        assert refusal.value.code == "two_customers"
    else:
        assert authentication.single_customer(*names) == (texts.pop() if texts else None)


PAIRS = st.tuples(st.sampled_from([b"a", b"content-type", b"if-match"]), st.binary(max_size=4))


@given(st.lists(PAIRS), st.sampled_from(["a", "content-type", "x"]))
def test_the_first_of_two_headers_counts(pairs: list[tuple[bytes, bytes]], name: str) -> None:
    request = HttpRequest({"headers": pairs}, no_body, ROUTES[0], {}, {})
    assert request.header(name.encode()) == Headers(raw=pairs).get(name)
