"""docs/reference/routes.md: every route of the server, from the route table."""

import types
import typing
from itertools import groupby
from typing import Any

import msgspec

from belvedere.rest.route import Route
from belvedere.server.routes import ROUTES
from pages.table import code, heading, table

ABOUT = """
Every route of the server, generated from its route table. `/-/openapi.json` also has the schemas
of the responses.

If the column *Styles* says **both**, the organization is either in the query or the body
(`/job?customer=acme`) or at the start of the path (`/acme/job`). An `{id}`, and every name that
ends in `_id`, is 24 hex digits; anything else there returns 404.

Every route can respond with 400 (invalid input), 401 (missing or invalid credential), 403 (not
allowed), 404 (not found, or of another organization) and 429 (too many requests). Other codes are
listed with the route; [errors](errors.md) explains them.
"""
# Where each table was first printed.
Said = dict[str, str]
STYLES = {"both": "both", "plain": "one"}
WORDS = {str: "string", int: "number", float: "number", bool: "boolean", bytes: "bytes", Any: "any"}


def page() -> str:
    parts = [heading("Routes", ABOUT)]
    said: Said = {}
    for feature, rows in groupby(ROUTES, key=_feature):
        parts.append(_section(feature, list(rows), said))
    return "\n".join(parts)


def _feature(route: Route) -> str:
    _, feature, *_ = route.handler.__module__.split(".")
    return feature


def _section(feature: str, rows: list[Route], said: Said) -> str:
    endpoints = table(
        ("Method", "Path", "Level", "Styles", "What it does"),
        (
            (
                row.method,
                code(row.path),
                row.level,
                "both" if row.style == "both" else "one",
                row.summary,
            )
            for row in rows
        ),
    )
    details = [_details(row, said) for row in rows if row.body or row.query or row.codes]
    return "\n".join((f"## {feature.capitalize()}\n", endpoints, *details))


def _details(row: Route, said: Said) -> str:
    lines = [f"### {row.method} {row.path}\n"]
    if row.query:
        part = table(("Query", "Meaning"), ((code(name), about) for name, about in row.query))
        lines.append(_once(part, "Query", row, said))
    if row.body:
        lines.append(_once(_body(row.body), "Body", row, said))
    if row.codes:
        lines.append(f"Also refuses with {', '.join(code(word) for word in row.codes)}.\n")
    return "\n".join(lines)


def _once(part: str, what: str, row: Route, said: Said) -> str:
    """The table where it first occurs, afterwards a reference to it."""
    first = said.setdefault(part, f"{row.method} {row.path}")
    here = first == f"{row.method} {row.path}"
    return part if here else f"{what} as for {code(first)}.\n"


def _body(shape: Any) -> str:
    if shape is Any:
        return "The body is any JSON.\n"
    if typing.get_origin(shape) is types.UnionType:
        lists, objects = typing.get_args(shape)
        return f"The body is an {words(lists)}, or an object:\n\n{_body(objects)}"
    fields = msgspec.structs.fields(shape)
    if not fields:
        return "The body is empty.\n"
    return table(
        ("Field", "Type", "Required"),
        (
            (code(field.encode_name), words(field.type), "yes" if field.required else "no")
            for field in fields
        ),
    )


def words(kind: Any) -> str:
    """A type in the words of JSON."""
    if kind in WORDS:
        return WORDS[kind]
    if kind is None or kind is type(None):
        return "null"
    if kind is msgspec.UnsetType:
        return ""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return words(inner[0])
    if origin is typing.Literal:
        return ", ".join(code(str(word)) for word in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(word for word in map(words, inner) if word)
    if origin in (list, tuple) or kind in (list, tuple):
        return f"array of {words(inner[0])}" if inner else "array"
    return "string" if isinstance(kind, type) and issubclass(kind, str) else "object"
