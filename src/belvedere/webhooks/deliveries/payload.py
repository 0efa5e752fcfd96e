"""From the body of a call to the elements that become arguments. Numbers keep their notation."""

from typing import Any

from belvedere.base.errors import BadMediaType, Invalid, Refused
from belvedere.base.text import json_text
from belvedere.rest import run_arguments
from belvedere.rest.run_arguments import FORM, JSON


def read(content_type: str, raw: bytes) -> list[Any] | Refused:
    """The elements, or the error: an unauthorized caller must not get it."""
    try:
        return elements(content_type, raw)
    except Refused as refusal:
        return refusal


def elements(content_type: str, raw: bytes) -> list[Any]:
    """Element n is argument n. A value that is not an array counts as an array of one element."""
    if not raw.strip():
        return []
    kind = run_arguments.media_type(content_type)
    if run_arguments.is_json(kind):
        return _as_list(json_text.parse(raw))
    if kind == FORM:
        return _from_form(raw)
    if kind == "text/plain":
        return [_decode(raw)]
    raise BadMediaType(f"{kind} cannot be read here; send {JSON}.")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _from_form(raw: bytes) -> list[Any]:
    fields = run_arguments.form(raw)
    if set(fields) == {"payload"} and len(fields["payload"]) == 1:
        # GitHub's form: one field that contains all of the JSON.
        return _as_list(json_text.parse(fields["payload"][0]))
    return [{name: values[0] if len(values) == 1 else values for name, values in fields.items()}]


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as fault:
        raise Invalid(
            f"The body is not UTF-8 (byte {fault.start}).", code="malformed_body"
        ) from None
