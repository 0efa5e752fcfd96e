"""The encodings of the arguments of a run request: JSON, form, query string.

All three produce the same `RunArguments`, so that a job does not depend on the encoding.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from belvedere.base.errors import BadMediaType, Fault, Invalid
from belvedere.rest import fields
from belvedere.rest.bodies import file_contents

T = TypeVar("T")
Query = Mapping[str, list[str]]

MAX_FIELDS = fields.MAX_FIELDS
# Parameters of a content type: charset, boundary and a few more.
MAX_PARAMETERS = 16
NAMES = ("task_arguments", "task_arguments[]")
ASSIGNEE_NAMES = ("assignee", "assignee[]")
# No arguments, or all of them under one name.
ARGUMENT_NAMES = ([], *([name] for name in NAMES))
OWN_NAMES = ("task", "customer", *NAMES)
# The keys of an argument object, as TheEye's clients send them.
ARGUMENT_KEYS = frozenset(
    [
        "order",
        "label",
        "value",
        "type",
        "id",
        "masked",
        "required",
        "readonly",
        "help",
        "options",
        "renderValue",
    ]
)
MAX_ORDER_DIGITS = 6
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


class RunArguments(msgspec.Struct, frozen=True):
    """The content of a run request, in any encoding."""

    task: str | None = None
    customer: str | None = None
    # None: the request has no arguments, which differs from an empty list.
    arguments: list[Any] | None = None
    # Not checked: in a body that is an argument itself, it may be anything.
    assignee: object = None
    # The other members of a JSON object or form: lifecycle, notify, …
    rest: dict[str, Any] = {}
    # The whole body when it was JSON; a one-argument task may take it as its argument.
    body: object = None


def read(content_type: str, raw: bytes, query: Query) -> RunArguments:
    """Merge body and query; a value in both must be the same."""
    from_body = _from_body(content_type, raw)
    from_query = _from_fields(query)
    # Names of organizations are case-insensitive.
    body_customer = from_body.customer and from_body.customer.lower()
    query_customer = from_query.customer and from_query.customer.lower()
    return RunArguments(
        task=_merge("task", from_body.task, from_query.task),
        customer=_merge("customer", body_customer, query_customer),
        arguments=_merge("task_arguments", from_body.arguments, from_query.arguments),
        assignee=_merge("assignee", from_body.assignee, from_query.assignee),
        rest=from_body.rest,
        body=from_body.body,
    )


def _merge(name: str, body_value: T | None, query_value: T | None) -> T | None:
    if body_value is not None and query_value is not None and body_value != query_value:
        raise _invalid(
            name, f"{name} differs between the body and the query; send it once.", "disagree"
        )
    return query_value if body_value is None else body_value


def _from_body(content_type: str, raw: bytes) -> RunArguments:
    if not raw.strip():
        return RunArguments()
    kind = media_type(content_type)
    if is_json(kind):
        return _from_json(file_contents.parse_json(raw))
    if kind == FORM:
        return _from_form(form(raw))
    raise BadMediaType(f"{kind} is not supported here; send {JSON} or {FORM}.")


def is_json(kind: str) -> bool:
    """A body without a type is parsed as JSON; an error names the position."""
    return kind in ("", JSON) or (kind.startswith("application/") and kind.endswith("+json"))


def media_type(content_type: str) -> str:
    """The bare type in lower case; refused unless its text is UTF-8."""
    kind, _, parameters = content_type.partition(";")
    if parameters:
        charset = _charset(parameters)
        if charset not in ("utf-8", "utf8", "us-ascii"):
            raise BadMediaType(f"The charset {charset} is not supported; send UTF-8.")
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


def _from_json(body: object) -> RunArguments:
    if isinstance(body, list):
        return RunArguments(arguments=_check_count(body), body=body)
    if not isinstance(body, dict):
        raise Invalid("The body is neither a JSON object nor an array.", code="malformed_body")
    arguments = body.get("task_arguments")
    if arguments is not None and not isinstance(arguments, list):
        raise _invalid("task_arguments", "task_arguments is not an array.", "bad_arguments")
    names = ("task", "customer", "task_arguments")
    return RunArguments(
        task=_optional_text("task", body.get("task")),
        customer=_optional_text("customer", body.get("customer")),
        arguments=None if arguments is None else _check_count(arguments),
        assignee=body.get("assignee"),
        rest={name: value for name, value in body.items() if name not in names},
        body=body,
    )


def form(raw: bytes) -> Query:
    """The fields of an urlencoded body."""
    if raw.lstrip()[:1] in (b"{", b"["):
        # curl -d sends this type by default; as a form the body would have no meaning.
        raise BadMediaType(f"The body looks like JSON; send it with Content-Type: {JSON}.")
    try:
        return file_contents.parse_form(raw)
    except UnicodeDecodeError:
        raise Invalid("The form is not UTF-8.", code="malformed_form") from None
    except ValueError:
        raise _too_many() from None


def _from_form(parameters: Query) -> RunArguments:
    """The other fields of a form are kept in `rest`; those of a query are read elsewhere."""
    rest = {name: values[-1] for name, values in parameters.items() if name not in OWN_NAMES}
    return msgspec.structs.replace(_from_fields(parameters), rest=rest)


def _from_fields(parameters: Query) -> RunArguments:
    if sum(map(len, parameters.values())) > MAX_FIELDS:
        raise _too_many()
    # With any text in the brackets: an index is not supported, but means arguments.
    names = [name for name in parameters if name[:15] in ("task_arguments", "task_arguments[")]
    if names not in ARGUMENT_NAMES:
        message = f"Repeat one of {' or '.join(NAMES)}, once per argument, and nothing else."
        raise _invalid(names[-1], message, "bad_arguments")
    return RunArguments(
        task=_single("task", parameters),
        customer=_single("customer", parameters),
        arguments=list(parameters[names[0]]) if names else None,
        assignee=next((parameters[name] for name in ASSIGNEE_NAMES if name in parameters), None),
    )


def _single(name: str, parameters: Query) -> str | None:
    values = parameters.get(name)
    if not values:
        return None
    if {*values} != {values[0]}:
        raise _invalid(name, f"{name} has different values; send it once.", "disagree")
    return values[0]


def _optional_text(name: str, value: object) -> str | None:
    if value is None:
        return None
    # `Number` is a subclass of str.
    if type(value) is not str:
        raise _invalid(name, f"{name} is not a string.", "malformed_body")
    return value


def _check_count(arguments: list[Any]) -> list[Any]:
    if len(arguments) > MAX_FIELDS:
        raise _too_many()
    return unwrap(arguments)


def unwrap(arguments: list[Any]) -> list[Any]:
    """Argument objects replaced by their values, placed by their `order`. Any other object is a
    value itself."""
    if not any(isinstance(element, dict) and _is_argument(element) for element in arguments):
        return arguments
    placed = [
        (_order(element, index), element["value"])
        if isinstance(element, dict) and _is_argument(element)
        else (index, element)
        for index, element in enumerate(arguments)
    ]
    return [value for _, value in sorted(placed, key=itemgetter(0))]


def _is_argument(element: dict[str, Any]) -> bool:
    return "value" in element and element.keys() <= ARGUMENT_KEYS


def _order(element: dict[str, Any], index: int) -> int:
    """Its `order`, else its position in the list. Numbers may be texts."""
    text = str(element.get("order", ""))
    return int(text) if text.isdecimal() and len(text) <= MAX_ORDER_DIGITS else index


def _too_many() -> Invalid:
    message = f"At most {MAX_FIELDS} fields are allowed."
    return _invalid("task_arguments", message, "too_many_fields")


def _invalid(name: str, message: str, code: str) -> Invalid:
    return Invalid(message, code=code, faults=(Fault(name, message),))
