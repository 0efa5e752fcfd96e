"""The API as OpenAPI 3.1, from the same table and types that check the requests."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere import __version__
from belvedere.rest import error_format
from belvedere.rest.route import Route
from belvedere.server.http.routing import Router, is_id_name

# Errors of every route, in addition to those that it declares.
ALWAYS = (400, 401, 403, 404, 405, 429, 503)
_STATUS_OF_CODE = {kind.code: status for kind, status in error_format.STATUS}
# Codes whose status is not 409.
_STATUS_OF_CODE |= {"bad_enrolment": 401, "bad_client": 401, "link_gone": 404}
_STATUS_OF_CODE |= {"ticket_gone": 401, "wrong_code": 401, "storage_quota": 413}
_STATUS_OF_CODE |= {"no_approver": 400}
_DESCRIPTIONS = {
    202: "Not finished yet.",
    204: "Done, without content.",
    206: "The requested part.",
    302: "Redirect.",
    303: "Continue there.",
    416: "The requested part does not exist.",
}
_NAMED = "#/components/schemas/"
_PARAMETER = re.compile(r"\{(\w+)\}")


class FaultRecord(msgspec.Struct):
    field: str
    message: str


class ErrorRecord(msgspec.Struct, rename={"status_code": "statusCode"}):
    """The format of every error; `errors` only if fields are invalid."""

    status_code: int
    code: str
    message: str
    request_id: str
    errors: list[FaultRecord] | msgspec.UnsetType = msgspec.UNSET


def document(table: Router, base_url: str) -> dict[str, Any]:
    shapes = _shapes(table.routes)
    schemas, named = msgspec.json.schema_components(shapes, ref_template=f"{_NAMED}{{name}}")
    components = {_short(name): _with_short_names(schema) for name, schema in named.items()}
    assert len(components) == len(named), "two types of one feature have the same name"
    schema_of = {
        _key(shape): _with_short_names(schema)
        for shape, schema in zip(shapes, schemas, strict=True)
    }
    paths: dict[str, dict[str, Any]] = {}
    for route in table.routes:
        for path in _paths(route):
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, path, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Belvedere", "version": __version__},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
    }


_SECURITY = {
    "token": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "access_token"},
}


def _short(name: str) -> str:
    """Where features share a name, msgspec uses full module names, which are internal."""
    _, *modules = name.split(".")
    return f"{modules[0].capitalize()}{modules[-1]}" if modules else name


def _with_short_names(schema: object) -> object:
    if isinstance(schema, list):
        return [_with_short_names(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {name: _with_short_names(item) for name, item in schema.items()}
    reference = renamed.get("$ref")
    if isinstance(reference, str):
        renamed["$ref"] = _NAMED + _short(reference.removeprefix(_NAMED))
    return renamed


def _shapes(routes: tuple[Route, ...]) -> list[Any]:
    shapes: dict[str, Any] = {_key(ErrorRecord): ErrorRecord}
    for route in routes:
        for shape in (route.body, route.answer):
            if shape is not None and shape is not bytes:
                shapes[_key(shape)] = shape
    return list(shapes.values())


def _key(shape: object) -> str:
    return str(shape)


def _paths(route: Route) -> Iterator[str]:
    yield route.path
    if route.style == "both":
        yield "/{customer}" + route.path


def _operation(route: Route, path: str, schema_of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": _name(route, path),
        "summary": route.summary,
        "description": f"Level: {route.level}.{' People only.' if route.people else ''}",
        "parameters": [*_path_parameters(path), *_query_parameters(route, path)],
        "responses": _responses(route, schema_of),
        "security": [] if route.level == "anonymous" else [{"token": []}, {"query": []}],
    }
    if route.body is not None:
        operation["requestBody"] = _request_body(route, schema_of)
    return operation


def _name(route: Route, path: str) -> str:
    words = re.sub(r"[^a-zA-Z0-9]+", "_", path).strip("_")
    return f"{route.method.lower()}_{words}"


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9a-f]{24}$"}
            if is_id_name(name)
            else {"type": "string", "minLength": 1},
        }
        for name in _PARAMETER.findall(path)
    ]


def _query_parameters(route: Route, path: str) -> list[dict[str, Any]]:
    parameters = [(name, about, False) for name, about in route.query]
    if route.style == "both" and not path.startswith("/{customer}"):
        parameters.append(("customer", "the organization's name", route.needs_customer))
    return [
        {
            "name": name,
            "in": "query",
            "description": about,
            "required": required,
            "schema": {"type": "string"},
        }
        for name, about, required in parameters
    ]


def _request_body(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    schema = schema_of[_key(route.body)]
    content = {"application/json": {"schema": schema}}
    if route.raw_body:
        content["application/x-www-form-urlencoded"] = {"schema": schema}
    return {"content": content, "required": False}


def _responses(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    if route.answer is bytes:
        content: dict[str, Any] = {media: {"schema": {"type": "string"}} for media in route.media}
    elif route.answer is None:
        content = {"application/json": {}}
    else:
        content = {"application/json": {"schema": schema_of[_key(route.answer)]}}
        content |= {media: {"schema": {"type": "string"}} for media in route.also}
    created = not route.from_interface and route.method == "POST"
    answers: dict[str, Any] = {"200": {"description": "Done.", "content": content}}
    if route.selectable:
        selected = {"schema": {"anyOf": [content["application/json"]["schema"], {}]}}
        answers["200"] = {"description": "Done.", "content": {"application/json": selected}}
    if created:
        answers["201"] = {"description": "Created.", "content": content}
    for status in route.statuses:
        answers[str(status)] = {"description": _DESCRIPTIONS[status], "content": content}
    if 204 in route.statuses:
        del answers["204"]["content"]
    refusal = {"application/json": {"schema": schema_of[_key(ErrorRecord)]}}
    for status, codes in sorted(_refusals(route).items()):
        answers[str(status)] = {"description": ", ".join(sorted(codes)), "content": refusal}
    return answers


def _refusals(route: Route) -> dict[int, set[str]]:
    refusals: dict[int, set[str]] = {status: {_CODES[status]} for status in ALWAYS}
    body_codes = ("too_large", "unsupported_media_type") if route.body is not None else ()
    for code in (*route.codes, *body_codes):
        refusals.setdefault(_STATUS_OF_CODE.get(code, 409), set()).add(code)
    return refusals


_CODES = {
    400: "invalid",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    429: "too_many_requests",
    503: "unavailable",
}
