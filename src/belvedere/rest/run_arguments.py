"""The encodings in which a run route takes its arguments: JSON, form, query string.

All three end in the same `Given`, so that a job cannot depend on how it was asked for.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from belvedere.base.errors import BadMediaType, Fault, Invalid
from belvedere.base.text import json_text
from belvedere.rest import fields

Query = Mapping[str, list[str]]

MAX_FIELDS = fields.MOST
# Of a content type: charset, boundary and a few more.
MAX_PARAMETERS = 16
NAMES = ("task_arguments", "task_arguments[]")
# No arguments, or all of them under one name.
SPELLED = ([], *([name] for name in NAMES))
KNOWN = ("task", "customer", *NAMES)
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
    # Organizations are called without regard to case.
    said = from_body.customer and from_body.customer.lower()
    asked = from_query.customer and from_query.customer.lower()
    return Given(
        task=_agreed("task", from_body.task, from_query.task),
        customer=_agreed("customer", said, asked),
        arguments=_agreed("task_arguments", from_body.arguments, from_query.arguments),
        rest=from_body.rest,
        body=from_body.body,
    )


def _agreed(name: str, one: Any, other: Any) -> Any:
    if one is not None and other is not None and one != other:
        raise _bad(name, f"The body and the query disagree about {name}; give it once.", "disagree")
    return other if one is None else one


def _from_body(content_type: str, raw: bytes) -> Given:
    if not raw.strip():
        return Given()
    kind = media_type(content_type)
    if is_json(kind):
        return _from_json(json_text.parse(raw))
    if kind == FORM:
        return _from_form(form(raw))
    raise BadMediaType(f"{kind} cannot be read here; send {JSON} or {FORM}.")


def is_json(kind: str) -> bool:
    """A body without a type is taken for JSON: what is not JSON is refused by its position."""
    return kind in ("", JSON) or (kind.startswith("application/") and kind.endswith("+json"))


def media_type(content_type: str) -> str:
    """The bare type in lower case; refused unless its text is UTF-8."""
    kind, _, parameters = content_type.partition(";")
    if parameters:
        charset = _charset(parameters)
        if charset not in ("utf-8", "utf8", "us-ascii"):
            raise BadMediaType(f"The charset {charset} cannot be read here; send UTF-8.")
    return kind.strip().lower()


def _charset(parameters: str) -> str:
    # The parser of the email package takes quadratic time for many semicolons.
    if parameters.count(";") >= MAX_PARAMETERS:
        raise BadMediaType(f"Content-Type has more than {MAX_PARAMETERS} parameters.")
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()
    return "utf-8"


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
        return fields.read(raw.decode())
    except UnicodeDecodeError:
        raise Invalid("The form is not UTF-8.", code="malformed_form") from None
    except ValueError:
        raise _too_many() from None


def _from_form(sent: Query) -> Given:
    """A form says it all; what else a query says is read where it is wanted."""
    rest = {name: values[-1] for name, values in sent.items() if name not in KNOWN}
    return msgspec.structs.replace(_from_fields(sent), rest=rest)


def _from_fields(sent: Query) -> Given:
    if sum(map(len, sent.values())) > MAX_FIELDS:
        raise _too_many()
    # Whatever stands in its brackets: an index is no way to say it, but was meant so.
    spelled = [name for name in sent if name[:15] in ("task_arguments", "task_arguments[")]
    if spelled not in SPELLED:
        message = f"Repeat one of {' or '.join(NAMES)}, once per argument, and nothing else."
        raise _bad(spelled[-1], message, "bad_arguments")
    return Given(
        task=_single("task", sent),
        customer=_single("customer", sent),
        arguments=list(sent[spelled[0]]) if spelled else None,
    )


def _single(name: str, sent: Query) -> str | None:
    values = sent.get(name)
    if not values:
        return None
    if {*values} != {values[0]}:
        raise _bad(name, f"{name} is given with different values; give it once.", "disagree")
    return values[0]


def _word(name: str, value: Any) -> str | None:
    if value is None:
        return None
    # A number is a string, too, but of a type of its own.
    if type(value) is not str:
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
