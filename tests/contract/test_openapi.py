"""The OpenAPI document: complete, valid, and true for the responses."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from belvedere.rest.route import Route
from belvedere.server.http import openapi
from belvedere.server.http.routing import Router
from belvedere.server.routes import ROUTES
from contract.client import Client
from contract.conformity import Conformity
from contract.fixtures_all_kinds import settle
from contract.schema import SILENT, Checker
from contract.valid_requests import bodies
from contract.world import World

only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return Conformity(Router(ROUTES)).document


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def addresses(route: Route) -> list[str]:
    return [route.path, *(["/{customer}" + route.path] if route.style == "both" else [])]


@only_sqlite
async def test_the_openapi_document_is_served(world: World, anonymous: Client) -> None:
    response = await anonymous.get("/-/openapi.json")
    assert response.status == 200
    assert response.json == openapi.document(world.runtime.router, "http://belvedere.test")


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert set(document) == {"openapi", "info", "servers", "paths", "components"}
    assert document["info"]["title"] and document["info"]["version"]
    for method, path, operation in operations(document):
        assert path.startswith("/") and method in ("get", "put", "post", "patch", "delete"), path
        assert operation["summary"] and operation["responses"], path
        for parameter in operation["parameters"]:
            assert parameter["in"] in ("path", "query") and parameter["schema"], path
        for status, response in operation["responses"].items():
            assert re.fullmatch(r"[2-5]\d\d", status) and response["description"], path


def test_every_route_is_described_in_both_styles(document: dict[str, Any]) -> None:
    expected = {(route.method.lower(), path) for route in ROUTES for path in addresses(route)}
    assert {(method, path) for method, path, _ in operations(document)} == expected


def test_operations_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))


def test_schema_names_do_not_contain_module_names(document: dict[str, Any]) -> None:
    names = set(document["components"]["schemas"])
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+", name) for name in names), names
    assert {"JobRecord", "JobUserRecord"} <= names
    matches = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))
    assert set(matches) <= names


def test_every_parameter_of_a_path_is_declared(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        declared = {
            parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"
        }
        assert declared == set(re.findall(r"\{(\w+)\}", path))
        assert all(
            parameter["required"]
            for parameter in operation["parameters"]
            if parameter["in"] == "path"
        )


def test_the_organization_is_a_parameter_where_the_path_does_not_name_it(
    document: dict[str, Any],
) -> None:
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        fields = {parameter["name"]: parameter["required"] for parameter in operation["parameters"]}
        is_asked = route.style == "both" or "customer" in dict(route.query)
        assert ("customer" in fields) is is_asked, route.path
        assert fields.get("customer", False) is route.needs_customer, route.path


def test_every_refusal_is_described_with_its_words(document: dict[str, Any]) -> None:
    for route in ROUTES:
        responses = document["paths"][route.path][route.method.lower()]["responses"]
        for status in ("400", "401", "403", "404", "405", "429", "503"):
            shape = responses[status]["content"]["application/json"]["schema"]
            assert shape == {"$ref": "#/components/schemas/ErrorRecord"}, route.path
        names = {
            word for response in responses.values() for word in response["description"].split(", ")
        }
        assert set(route.codes) <= names, route.path
        if route.body is not None:
            assert {"413", "415"} <= set(responses), route.path


def test_levels_are_documented(document: dict[str, Any]) -> None:
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert f"Level: {route.level}." in operation["description"]
        assert (operation["security"] == []) is (route.level == "anonymous")


def test_schemas_use_only_supported_keywords(document: dict[str, Any]) -> None:
    """Otherwise a response could differ from the description without a test that notices."""
    texts = {name.removeprefix("_") for name in vars(Checker) if name.startswith("_")}
    for schema in schemas(document["components"]["schemas"], document):
        strange = {word.strip("$") for word in schema} - texts - SILENT
        assert not strange, schema


def schemas(named: dict[str, Any], document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = list(named.values())
    for _, _, operation in operations(document):
        holders = [*operation["responses"].values(), operation.get("requestBody", {})]
        for holder in holders:
            waiting += [item.get("schema", {}) for item in holder.get("content", {}).values()]
    while waiting:
        schema = waiting.pop()
        yield schema
        waiting += schema.get("properties", {}).values()
        waiting += schema.get("anyOf", [])
        waiting += [
            item
            for item in (schema.get("items"), schema.get("additionalProperties"))
            if isinstance(item, dict)
        ]


@only_sqlite
async def test_bodies_that_pass_are_bodies_that_are_described(
    world: World, document: dict[str, Any]
) -> None:
    """The other half, that responses are as described, is checked with every response of the tests
    in this folder."""
    fixtures = await world.runtime.db.write(settle, world.runtime, world.actors, world.things)
    checker = Checker(document)
    for endpoint, body in bodies(fixtures, fixtures.acme).items():
        method, path = endpoint.split(" ")
        operation = document["paths"][path][method.lower()]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert list(checker.faults(body, schema)) == [], endpoint
