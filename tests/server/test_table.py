"""The route table: no request matches two routes, and no organization has the name of a route."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote_to_bytes

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.access import Keyring, Level
from belvedere.access.customers import service
from belvedere.base.errors import Invalid, NotAllowed, NotFound
from belvedere.base.ids import is_id
from belvedere.db import Database
from belvedere.rest.route import Route
from belvedere.server import routes, wiring
from belvedere.server.http import routing
from belvedere.server.http.routing import Router, is_id_name
from belvedere.server.routes import PAGES, ROUTES
from belvedere.settings import Settings

TABLE = Router(ROUTES, PAGES)
ID = "65a0000000000000000000a1"


def pattern(route: Route, *, v1: bool) -> list[str]:
    """Segments: a word, `{id}` for a typed one, `{}` for free text, `{organization}`, `{...}`."""
    parts = []
    for part in route.path.split("/")[1:]:
        if part.endswith("...}"):
            part = "{...}"
        elif part.startswith("{"):
            part = "{id}" if is_id_name(part[1:-1]) else "{}"
        parts.append(part)
    return ["{organization}", *parts] if v1 else parts


def patterns() -> list[tuple[Route, bool, list[str]]]:
    plain = [(route, False, pattern(route, v1=False)) for route in (*ROUTES, *PAGES)]
    both = [(route, True, pattern(route, v1=True)) for route in ROUTES if route.style == "both"]
    return [*plain, *both]


PATTERNS = patterns()


def fits(word: str, part: str) -> bool:
    if part == "{organization}":
        return bool(word) and word not in TABLE.reserved
    if part == "{id}":
        return is_id(word)
    return bool(word) if part == "{}" else word == part


def reaches(parts: list[str], expected: list[str]) -> bool:
    if expected[-1] == "{...}":
        # A segment must remain, even if it is empty: /ui/ but not /ui.
        return len(parts) >= len(expected) and all(map(fits, parts, expected[:-1]))
    return len(parts) == len(expected) and all(map(fits, parts, expected))


def meet(text: str, other: str) -> bool:
    """Whether some segment matches both."""
    if text.startswith("{") and other.startswith("{"):
        return True
    return fits(other, text) if text.startswith("{") else fits(text, other)


def test_a_path_finds_its_route() -> None:
    match = TABLE.match("GET", f"/acme/job/{ID}".encode())
    assert (match.route.path, match.customer, match.path) == ("/job/{id}", "acme", {"id": ID})


def test_no_request_matches_two_routes() -> None:
    for (route, v1, a), (other, also_v1, b) in itertools.combinations(PATTERNS, 2):
        if route.method != other.method or len(a) != len(b):
            continue
        is_clash = all(meet(x, y) for x, y in zip(a, b, strict=True))
        assert not is_clash, f"{route.method} {route.path} ({v1}) and {other.path} ({also_v1})"


WORDS = sorted({part for _, _, parts in PATTERNS for part in parts if part[:1] != "{"})
SEGMENTS = st.sampled_from([*WORDS, ID, "acme", "JOB", "", "x", "65A0000000000000000000A1"])


@given(st.lists(SEGMENTS, min_size=1, max_size=6), st.sampled_from(["GET", "PUT", "POST"]))
@settings(max_examples=500)
def test_the_table_finds_the_same_route_as_a_linear_search(parts: list[str], method: str) -> None:
    actual_routes = [
        route
        for route, _, expected in PATTERNS
        if route.method == method and reaches(parts, expected)
    ]
    assert len(actual_routes) <= 1
    try:
        match = TABLE.match(method, ("/" + "/".join(parts)).encode())
    except (NotFound, NotAllowed):
        assert actual_routes == []
    else:
        assert actual_routes == [match.route]


RAW = st.lists(st.sampled_from([b"/", b"%", b"%2F", b"%c3", b"\xc3", b"\xa9", b"a", b"%a9"]))


@given(RAW.map(b"".join))
def test_a_path_without_escapes_is_read_as_one_with(raw: bytes) -> None:
    try:
        expected = [unquote_to_bytes(part).decode() for part in raw.split(b"/")]
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            routing.segments(b"/" + raw)
    else:
        assert routing.segments(b"/" + raw) == expected


def test_segments_are_read_after_they_are_cut() -> None:
    """A secret or a title may contain a slash, written as %2F; a path may not hide one."""
    match = TABLE.match("POST", b"/job/secret/a%2Fb")
    assert match.path == {"secret": "a/b"}
    with pytest.raises(NotFound):
        TABLE.match("GET", b"/job%2F" + ID.encode())


@pytest.mark.parametrize("raw", [b"*", b"", b"job"])
def test_an_invalid_path_is_not_found(raw: bytes) -> None:
    """`OPTIONS *` is HTTP, and so is any other method before it."""
    with pytest.raises(NotFound):
        TABLE.match("GET", raw)
    with pytest.raises(NotFound):
        TABLE.methods(raw)


def test_first_segments_are_no_organizations(db: Database, keys: Keyring) -> None:
    assert {"job", "task", "host", "file", "script", "api", "ui", "-"} <= TABLE.reserved
    for word in TABLE.reserved - {"-"}:
        for name in (word, word.upper()):
            with pytest.raises(Invalid):
                db.write_blocking(
                    service.create_customer, keys, name, "a@b.test", reserved=TABLE.reserved
                )


def test_a_reserved_first_segment_is_never_an_organization() -> None:
    for word in sorted(TABLE.reserved):
        for tail in ("job", "task", f"job/{ID}", f"task/{ID}/acl"):
            try:
                match = TABLE.match("GET", f"/{word}/{tail}".encode())
            except (NotFound, NotAllowed):
                continue
            assert match.customer is None


def test_every_route_declares_an_existing_level() -> None:
    routes.check(ROUTES)
    assert {Level(route.level) for route in ROUTES} == set(Level)


@pytest.mark.parametrize("level", ["", "root", "Admin", "*agent"])
def test_a_route_without_a_level_stops_the_server(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (*ROUTES[1:], replace(ROUTES[0], level=level))
    monkeypatch.setattr(routes, "ROUTES", broken)
    with pytest.raises(SystemExit, match="declares no level"):
        wiring.build(Settings(data=str(tmp_path / "data")))
    assert not (tmp_path / "data").exists()


def test_a_route_cannot_be_declared_twice() -> None:
    with pytest.raises(AssertionError, match="declared twice"):
        Router([*ROUTES, ROUTES[0]])


def test_only_our_own_routes_refuse_unknown_fields() -> None:
    for route in ROUTES:
        if route.body not in (None, Any):
            kinds = get_args(route.body) or (route.body,)
            [body] = [kind for kind in kinds if isinstance(kind, type)]
            assert issubclass(body, msgspec.Struct)
            forbids = body.__struct_config__.forbid_unknown_fields
            assert forbids is not route.from_interface, f"{route.method} {route.path}"


def test_routes_declare_summary_and_response() -> None:
    for route in ROUTES:
        assert route.summary.strip(), route.path
        assert route.answer is not None, f"{route.method} {route.path} declares no answer"
        assert route.style in ("both", "plain"), route.path
