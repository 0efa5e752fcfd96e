"""Prints the interface as OpenAPI for the console's types: `make api`.

One address per route and one refusal for all: the whole document would make a file of 52,000 lines
that says everything twenty times.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.server import routes
from belvedere.server.http import openapi
from belvedere.server.http.routing import Router
from belvedere.settings import Settings

NAMED = "#/components/schemas/"
REFUSAL = {
    "description": "Refused.",
    "content": {"application/json": {"schema": {"$ref": f"{NAMED}ErrorRecord"}}},
}


def document() -> dict[str, Any]:
    whole = openapi.document(Router(routes.ROUTES), Settings().base_url)
    paths = {
        path: {method: _short(operation) for method, operation in item.items()}
        for path, item in whole["paths"].items()
        if not path.startswith("/{customer}/")
    }
    schemas = whole["components"]["schemas"]
    for name in _answered(paths, schemas) - set(_sparing(msgspec.Struct)):
        _require_defaults(schemas[name])
    return {**whole, "paths": paths}


def _short(operation: dict[str, Any]) -> dict[str, Any]:
    done = {status: answer for status, answer in operation["responses"].items() if status < "400"}
    return {**operation, "responses": {**done, "default": REFUSAL}}


def _answered(paths: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    """The types that the server sends, with all that they consist of."""
    found: set[str] = set()
    waiting = [
        name
        for item in paths.values()
        for operation in item.values()
        for name in _names(operation["responses"])
    ]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _names(schemas[name])
    return found


def _names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(NAMED)
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from _names(one)


def _sparing(kind: type[msgspec.Struct]) -> Iterator[str]:
    """Types that leave out fields with their default values."""
    for child in kind.__subclasses__():
        if child.__struct_config__.omit_defaults:
            yield child.__name__
        yield from _sparing(child)


def _require_defaults(schema: dict[str, Any]) -> None:
    """A default may be left out of a request, but a response always has it."""
    fields = schema.get("properties", {})
    names = [name for name, field in fields.items() if "default" in field]
    schema["required"] = sorted({*schema.get("required", ()), *names})


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1, sort_keys=True)
