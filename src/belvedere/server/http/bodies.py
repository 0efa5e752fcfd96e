"""Reads request bodies: limited in size, by declared type, without duplicate keys."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from belvedere.base.errors import BadMediaType, Fault, Invalid, TooLarge
from belvedere.base.text import json_text
from belvedere.rest import fields, unknown_fields
from belvedere.rest.bodies import conversion
from belvedere.rest.request import Receive
from belvedere.rest.route import Route
from belvedere.rest.unknown_fields import UnknownField

JSON = b"application/json"


async def read(receive: Receive, headers: dict[bytes, bytes], limit: int) -> bytes:
    """The complete body; refused as soon as it exceeds the limit."""
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > limit:
        raise too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Invalid("The body ended early.", code="body_cut")
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise too_large(limit)
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body may have at most {limit} bytes.")


def media_type(headers: dict[bytes, bytes]) -> bytes:
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower()


def query_of(query_string: bytes) -> dict[str, list[str]]:
    try:
        return fields.read(query_string.decode("ascii"))
    except ValueError:
        raise Invalid("The query cannot be read.", code="malformed_query") from None


class ParsedBody(NamedTuple):
    # An instance of the route's type.
    body: object
    # The organization that it names.
    customer: str | None
    # Fields without effect.
    unknown: Sequence[UnknownField]


def parse(route: Route, raw: bytes, headers: dict[bytes, bytes]) -> ParsedBody:
    kind = media_type(headers)
    if raw and kind not in (JSON, b"") and not kind.endswith(b"+json"):
        raise BadMediaType("Send the body as application/json.")
    value = {}
    if raw.strip():
        value = json_text.parse(raw, exact=route.exact_numbers, max_elements=route.max_values)
    body = convert(value, route.body, from_interface=route.from_interface)
    unknown: Sequence[UnknownField] = ()
    if route.from_interface and value:
        unknown = unknown_fields.find(value, route.body, route.answer)
    return ParsedBody(body, _customer(value), unknown)


def _customer(value: object) -> str | None:
    customer = value.get("customer") if isinstance(value, dict) else None
    if customer is not None and not isinstance(customer, str):
        fault = Fault("customer", "Use the organization's name.")
        raise Invalid(
            "customer must be the organization's name.", code="invalid_body", faults=(fault,)
        )
    return customer


# An instance of `shape`, which is known only at run time.
def convert(value: object, shape: object, *, from_interface: bool) -> Any:
    """Validate a JSON value against a type; numbers may be strings."""
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if name not in ("access_token",)}
        if not from_interface:
            # Naming the organization in the body is allowed on every route.
            value.pop("customer", None)
    try:
        if from_interface:
            return conversion.convert(value, cast("type[Any]", shape))
        return msgspec.convert(value, shape, strict=False)
    except msgspec.ValidationError as fault:
        raise _invalid(str(fault)) from None


def _invalid(message: str) -> Invalid:
    """msgspec reports `Expected …  - at `$.field``; the response has the field and a sentence."""
    reason, _, where = message.partition(" - at `")
    field = where.rstrip("`").removeprefix("$").lstrip(".")
    if not field and "unknown field" in reason:
        field = reason.partition("`")[2].rstrip("`")
    if not field and "missing required field" in reason:
        field = reason.partition("`")[2].rstrip("`")
    fault = Fault(field or "body", reason)
    return Invalid(f"{field or 'The body'}: {reason}.", code="invalid_body", faults=(fault,))
