"""Invalid input is refused and never an internal error: fields, parameters and headers."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from belvedere.rest.route import Route
from belvedere.server.routes import ROUTES
from contract import valid_requests
from contract.client import Client
from contract.fixtures_all_kinds import AllKinds, settle
from contract.matrix import PRINCIPALS, PathOwner, Principal
from contract.rollback_database import dry
from contract.world import World

TEXTS = (
    *("", " ", "\0", "²", "-1", "0", "1e999", "nan", "9" * 5_000, "9223372036854775808", "💥"),
    *("%", "'", '"', "\\", "[]", "{}", "null", "true", "a" * 3_000, "../..", "\r\nx: y", "\x7f"),
    *("2026-02-30", "9999-12-31T23:59:60Z", "0000-00-00", "\u202e", "a\ud7ffb"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**63, 2**64, 10**30, -(10**30), 1.5, 1e308, 5e-324),
    *("", "\0", "a\0b", "²", "💥", "a" * 70_000, "9" * 5_000, "-1", "1e5", "null", "9" * 25),
    *([], {}, [None], [[]], [{}], ["\0"], {"": ""}, {"\0": "\0"}, {"id": None}, {"id": "\0"}),
    *([{"type": "input", "label": "\0"}], [{"type": "select"}], [1e308], ["a"] * 2_000),
)
# Headers that are read, each with a route that reads it.
HEADERS = (
    ("if-match", "PATCH /task/{id}"),
    ("idempotency-key", "POST /job"),
    ("last-event-id", "GET /-/events"),
    ("last-event-id", "GET /job/{id}/log"),
    ("range", "GET /job/{id}/log"),
    ("content-type", "PATCH /task/{id}"),
    ("content-type", "POST /job"),
    ("content-type", "POST /file"),
    ("authorization", "GET /task"),
    ("authorization", "POST /api/auth/login"),
    ("cookie", "GET /task"),
    ("origin", "GET /task"),
    ("x-forwarded-for", "GET /task"),
)
# What a path contains besides ids.
FREE = ("{secret}", "{title}", "{token}", "{hostname}", "{name}")
# One route of each kind takes the parameters that all of them read.
COMMON = {
    "GET /task": ("customer", "access_token"),
    "POST /job": ("customer", "lifecycle", "task", "task_arguments[]"),
    "PATCH /task/{id}/acl": ("users", "users[]", "action"),
}


class Fuzz:
    """Requests that are valid except for one value."""

    def __init__(self, world: World, fixtures: AllKinds, share: int) -> None:
        self._world, self._fixtures = world, fixtures
        self._share, self._turn = share, 0
        self._number = 0
        self.faults: dict[str, str] = {}

    def client(self, principal: Principal) -> Client:
        self._number += 1
        return Client(
            self._world.app,
            self._fixtures.tokens[principal.name],
            address=f"172.17.{self._number // 250}.{self._number % 250}",
            hangs_up=True,
            check=self._world.conformity,
        )

    def select(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Every second, third … value, and another selection for each field."""
        self._turn += 1
        return values[self._turn % self._share :: self._share]

    def target(self, route: Route, principal: Principal) -> str:
        return valid_requests.address(
            route, self._fixtures, self._world.actors, principal, PathOwner.OWN, v1=False
        )

    def body(self, route: Route) -> Any:
        return valid_requests.bodies(self._fixtures, self._fixtures.acme).get(name_of(route), {})

    async def request(self, route: Route, target: str, body: Any, **headers: str) -> None:
        for principal in principals_for(route):
            await self._ask_as(principal, route, target, body, headers)

    async def _ask_as(
        self, principal: Principal, route: Route, target: str, body: Any, headers: dict[str, str]
    ) -> None:
        client = self.client(principal)
        raw = json.dumps(body).encode()
        kind = {"content-type": "application/json"}
        try:
            # `check` rejects a 5xx, and every response that is not described.
            await client.request(route.method, target, raw=raw, headers={**kind, **headers})
        except AssertionError as fault:
            text = f"{target[-80:]} {raw[:80]!r} {headers}: {str(fault)[:300]}"
            self.faults.setdefault(f"{name_of(route)}: {str(fault)[-80:-40]}", text)


def principals_for(route: Route) -> list[Principal]:
    """The principal with most access; some routes run another operation for an agent."""
    name = {"agent": "agent", "owner": "owner", "anonymous": "anonymous"}.get(route.level, "admin")
    names = (name, "agent") if route.also_agent else (name,)
    return [principal for principal in PRINCIPALS if principal.name in names]


def principal_for(route: Route) -> Principal:
    return principals_for(route)[0]


@pytest.fixture
def fuzz(world: World, quick_passwords: None, engine: str) -> Fuzz:
    fixtures = world.runtime.db.write_blocking(settle, world.runtime, world.actors, world.things)
    dry(world.runtime)
    world.runtime.secret_uses.limit = 1_000_000
    # Both engines have the same checks before the database, which refuse most of the values.
    return Fuzz(world, fixtures, share=4 if engine == "postgres" else 1)


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


def names_of(route: Route) -> Iterator[str]:
    """Documented parameters, each with what the words in brackets stand for."""
    for name, _ in route.query:
        if name == "where[field]":
            yield from ("where[name]", "where[creation_date][$gt]", "where[id][$in][]")
        yield name.replace("field", "id")
    yield from COMMON.get(name_of(route), ())


@pytest.mark.limit(120)
async def test_invalid_query_parameters_never_cause_a_server_error(fuzz: Fuzz) -> None:
    """Parameters of the query."""
    for route in ROUTES:
        target = fuzz.target(route, principal_for(route))
        joint = "&" if "?" in target else "?"
        for name in names_of(route):
            for text in fuzz.select(TEXTS):
                sent_text = f"{target}{joint}{quote(name)}={quote(text)}"
                await fuzz.request(route, sent_text, fuzz.body(route))
    assert not fuzz.faults, "\n".join(fuzz.faults.values())


def _fields_of(body: object) -> tuple[msgspec.structs.FieldInfo, ...]:
    """None where the body is any JSON."""
    if isinstance(body, type) and issubclass(body, msgspec.Struct):
        return msgspec.structs.fields(body)
    return ()


@pytest.mark.limit(120)
async def test_fields_of_bodies(fuzz: Fuzz) -> None:
    # Routes with the same body have the same checks: one of them is enough.
    reading = {route.body: route for route in ROUTES if route.body is not None}
    for route in reading.values():
        target, good = fuzz.target(route, principal_for(route)), fuzz.body(route)
        for field in _fields_of(route.body):
            for value in fuzz.select(VALUES):
                await fuzz.request(route, target, {**good, field.encode_name: value})
        for value in VALUES:
            await fuzz.request(route, target, value)
    assert not fuzz.faults, "\n".join(fuzz.faults.values())


async def test_headers(fuzz: Fuzz) -> None:
    texts = [text for text in TEXTS if all(31 < ord(letter) < 256 for letter in text)]
    by_name = {name_of(route): route for route in ROUTES}
    for name, at in HEADERS:
        target = fuzz.target(by_name[at], principal_for(by_name[at]))
        for text in texts:
            for target_too in (target, f"{target}?follow=true"):
                await fuzz.request(by_name[at], target_too, fuzz.body(by_name[at]), **{name: text})
    assert not fuzz.faults, "\n".join(fuzz.faults.values())


async def test_free_text_in_paths(fuzz: Fuzz) -> None:
    for route in ROUTES:
        if not set(FREE) & set(route.path.split("/")):
            continue
        for text in TEXTS:
            path = route.path.replace("{id}", "0" * 24)
            for word in FREE:
                path = path.replace(word, quote(text, safe="") or "%20")
            await fuzz.request(route, path, fuzz.body(route))
            await fuzz.request(route, f"{path}?customer=acme&task={'0' * 24}", fuzz.body(route))
    assert not fuzz.faults, "\n".join(fuzz.faults.values())
