"""The encodings in which a run route takes its arguments: JSON, form, query string.

All three end in the same `Given`, so that a job cannot depend on how it was asked for.
"""

from collections.abc import Mapping
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from belvedere.base import text
from belvedere.base.errors import BadMediaType, Fault, Invalid

Query = Mapping[str, list[str]]

MAX_FIELDS = 1_000
NAMES = ("task_arguments", "task_arguments[]")
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


class Given(msgspec.Struct, frozen=True):
    """What a run request says, however it was written."""

    task: str | None = None
    customer: str | None = None
    # None: no arguments were mentioned, which is not the same as an empty list.
    arguments: list[Any] | None = None
    # The other members of a JSON object or form: lifecycle, notify, …
    rest: dict[str, Any] = {}
    # The whole body when it was JSON; a one-argument task may take it as its argument.
    body: Any = None


def read(content_type: str, raw: bytes, query: Query) -> Given:
    """Put body and query together; where both speak they must agree."""
    from_body = _from_body(content_type, raw)
    from_query = _from_fields(query)
    return Given(
        task=_agreed("task", from_body.task, from_query.task),
        # Organizations are called without regard to case.
        customer=_agreed("customer", _lower(from_body.customer), _lower(from_query.customer)),
        arguments=_agreed("task_arguments", from_body.arguments, from_query.arguments),
        rest=from_body.rest,
        body=from_body.body,
    )


def _agreed(name: str, one: Any, other: Any) -> Any:
    if one is not None and other is not None and one != other:
        raise _bad(name, f"The body and the query disagree about {name}; give it once.", "disagree")
    return other if one is None else one


def _lower(name: str | None) -> str | None:
    return None if name is None else name.lower()


def _from_body(content_type: str, raw: bytes) -> Given:
    if not raw.strip():
        return Given()
    kind = media_type(content_type)
    if is_json(kind):
        return _from_json(text.parse(raw))
    if kind == FORM:
        return _from_fields(form(raw))
    raise BadMediaType(f"{kind} cannot be read here; send {JSON} or {FORM}.")


def is_json(kind: str) -> bool:
    """A body without a type is taken for JSON: what is not JSON is refused by its position."""
    return kind in ("", JSON) or (kind.startswith("application/") and kind.endswith("+json"))


def media_type(content_type: str) -> str:
    """The bare type in lower case; refused unless its text is UTF-8."""
    kind, _, parameters = content_type.partition(";")
    if parameters:
        header = Message()
        header["content-type"] = content_type
        charset = str(header.get_param("charset", "utf-8")).lower()
        if charset not in ("utf-8", "utf8", "us-ascii"):
            raise BadMediaType(f"The charset {charset} cannot be read here; send UTF-8.")
    return kind.strip().lower()


def _from_json(body: Any) -> Given:
    if isinstance(body, list):
        return Given(arguments=_counted(body), body=body)
    if not isinstance(body, dict):
        raise Invalid("The body is neither a JSON object nor an array.", code="malformed_body")
    arguments = body.get("task_arguments")
    if arguments is not None and not isinstance(arguments, list):
        raise _bad("task_arguments", "task_arguments is not an array.", "bad_arguments")
    known = ("task", "customer", "task_arguments")
    return Given(
        task=_word("task", body.get("task")),
        customer=_word("customer", body.get("customer")),
        arguments=None if arguments is None else _counted(arguments),
        rest={name: value for name, value in body.items() if name not in known},
        body=body,
    )


def form(raw: bytes) -> Query:
    """The fields of an urlencoded body."""
    if raw.lstrip()[:1] in (b"{", b"["):
        # What curl -d sends unless it is told otherwise; read as a form it would say nothing.
        raise BadMediaType(f"The body looks like JSON; send it with Content-Type: {JSON}.")
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except UnicodeDecodeError:
        raise Invalid("The form is not UTF-8.", code="malformed_form") from None
    except ValueError:
        raise _too_many() from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def _from_fields(fields: Query) -> Given:
    if sum(map(len, fields.values())) > MAX_FIELDS:
        raise _too_many()
    spelled = [name for name in fields if name.partition("[")[0] == "task_arguments"]
    if len(spelled) > 1 or any(name not in NAMES for name in spelled):
        message = f"Repeat one of {' or '.join(NAMES)}, once per argument, and nothing else."
        raise _bad(spelled[-1], message, "bad_arguments")
    known = ("task", "customer", *NAMES)
    return Given(
        task=_single("task", fields),
        customer=_single("customer", fields),
        arguments=list(fields[spelled[0]]) if spelled else None,
        rest={name: values[-1] for name, values in fields.items() if name not in known},
    )


def _single(name: str, fields: Query) -> str | None:
    given = set(fields.get(name, ()))
    if len(given) > 1:
        raise _bad(name, f"{name} is given with different values; give it once.", "disagree")
    return given.pop() if given else None


def _word(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or isinstance(value, text.Number):
        raise _bad(name, f"{name} is not a string.", "malformed_body")
    return value


def _counted(arguments: list[Any]) -> list[Any]:
    if len(arguments) > MAX_FIELDS:
        raise _too_many()
    return arguments


def _too_many() -> Invalid:
    return _bad("task_arguments", f"At most {MAX_FIELDS} fields are read.", "too_many_fields")


def _bad(name: str, message: str, code: str) -> Invalid:
    return Invalid(message, code=code, faults=(Fault(name, message),))
