"""The parameters of a list: where[...], sort[...], limit, after, include[...], count.

A resource declares its fields in a `Listable`; `read` checks a query against it and refuses
undeclared fields. `rest/listing_sql.py` translates the result to SQL.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from belvedere.base import ids
from belvedere.rest import query as values
from belvedere.rest.query import invalid_query

Query = Mapping[str, list[str]]

MAX_VALUES = 1_000
# Conditions of one list, and characters of a $text condition.
MAX_CONDITIONS = 100
MAX_TEXT_FILTER = 256


class FieldKind(StrEnum):
    TEXT = "text"
    INT = "int"
    BOOL = "bool"
    TIME = "time"


READERS: dict[FieldKind, Callable[[str, str], str | int]] = {
    FieldKind.TEXT: values.text,
    FieldKind.INT: values.integer,
    FieldKind.BOOL: values.boolean,
    FieldKind.TIME: values.time,
}
OPERATORS = frozenset({"$eq", "$ne", "$in", "$gt", "$gte", "$lt", "$lte", "$text"})
# Not for requests: the value is the beginning of the field, as a pattern.
PREFIX = "$prefix"
UNORDERED = frozenset({"$eq", "$ne", "$in", "$text"})
MAX_SKIP = 100_000


@dataclass(frozen=True, slots=True)
class Field:
    """The column of a field of the interface.

    `column` is a column or an expression. With `{test}` inside it is a whole condition, such as
    `exists (select 1 … where entry {test})`; with `{n}` the field is declared as
    `name.N` and the requested number is inserted there. A name that people read (`is_name`) is
    sorted case-insensitively.
    """

    column: str
    kind: FieldKind = FieldKind.TEXT
    is_name: bool = False

    @property
    def is_condition(self) -> bool:
        return "{test}" in self.column


@dataclass(frozen=True, slots=True)
class Listable:
    """The fields and limits of the list of one resource."""

    fields: Mapping[str, Field]
    # Parts of a record that are left out unless include[...] names them.
    includes: frozenset[str] = frozenset()
    # The default order: a declared field.
    order: str = "id"
    newest_first: bool = False
    # The largest page of a list; None: no limit.
    most: int | None = None
    # Short lists in any order are paged by `skip`; history never is.
    may_skip: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    field: str
    operator: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A checked request for a list."""

    of: Listable
    conditions: tuple[Condition, ...] = ()
    # (field, whether descending)
    sort: tuple[tuple[str, bool], ...] = ()
    limit: int | None = None
    after: str | None = None
    include: frozenset[str] = frozenset()
    count: bool = False
    skip: int = 0
    # It ends before its limit because the response would have too many bytes.
    is_cut: bool = False
    # Bytes of its records, if they were counted.
    size: int = 0

    @property
    def is_by_id(self) -> bool:
        """Only in this order is there a next page."""
        return self._first_sort[0] == "id"

    @property
    def is_newest_first(self) -> bool:
        return self._first_sort[1]

    @property
    def _first_sort(self) -> tuple[str, bool]:
        return self.sort[0] if self.sort else (self.of.order, self.of.newest_first)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One bracketed parameter: its full name, its parts, its values."""

    name: str
    path: list[str]
    values: list[str]


def read(query: Query, of: Listable) -> Listing:
    """Check the query against the declaration. Unknown parameters are ignored."""
    parameters = list(_parameters(query))
    if sum(parameter.path[0] == "where" for parameter in parameters) > MAX_CONDITIONS:
        raise invalid_query("where", f"A list accepts at most {MAX_CONDITIONS} conditions.")
    conditions = tuple(
        _condition(of, parameter) for parameter in parameters if parameter.path[0] == "where"
    )
    if sum(len(condition.values) for condition in conditions) > MAX_VALUES:
        raise invalid_query("where", f"A list accepts at most {MAX_VALUES} values.")
    sort = tuple(_sort(of, parameter) for parameter in parameters if parameter.path[0] == "sort")
    return Listing(
        of=of,
        conditions=conditions,
        sort=sort,
        limit=_limit(of, query),
        after=_after(of, query, sort),
        include=_include(
            of, [parameter for parameter in parameters if parameter.path[0] == "include"]
        ),
        count=values.boolean("count", query.get("count", ["false"])[-1]) == 1,
        skip=_skip(query) if of.may_skip else 0,
    )


_NAME = re.compile(r"([a-z]+)((?:\[[^\[\]]*\])+)")
_PART = re.compile(r"\[([^\[\]]*)\]")


def _parameters(query: Query) -> Iterator[_Parameter]:
    for name, texts in query.items():
        match = _NAME.fullmatch(name)
        if match is None:
            continue
        path = [match[1], *_PART.findall(match[2])]
        # The host list of TheEye wraps everything once more: filter[where][hostname]=.
        if path[0] == "filter":
            path = path[1:]
        if len(path) > 1 and path[0] in ("where", "sort", "include"):
            yield _Parameter(name, path, texts)


def declared(of: Listable, field: str) -> Field | None:
    """The declaration of a field; `name.7` is found under `name.N`."""
    if field in of.fields:
        return None if field.endswith(".N") else of.fields[field]
    stem, _, number = field.rpartition(".")
    return of.fields.get(f"{stem}.N") if re.fullmatch("[0-9]{1,3}", number) else None


def _require_declared(of: Listable, parameter: _Parameter) -> Field:
    field = declared(of, parameter.path[1])
    if field is None:
        names = ", ".join(sorted(of.fields))
        message = f"Unknown field {parameter.path[1]!r}; the fields are {names}."
        raise invalid_query(parameter.name, message, "unknown_field")
    return field


def _condition(of: Listable, parameter: _Parameter) -> Condition:
    declaration = _require_declared(of, parameter)
    field, operator, rest = (
        parameter.path[1],
        parameter.path[2] if len(parameter.path) > 2 else "$eq",
        parameter.path[3:],
    )
    if not _is_comparable(declaration, operator, rest):
        message = f"The field {field!r} cannot be compared this way: {parameter.name}."
        raise invalid_query(parameter.name, message, "unknown_operator")
    if operator != "$in" and len(parameter.values) != 1:
        message = (
            f"{parameter.name} occurs {len(parameter.values)} times; use where[{field}][$in][]=."
        )
        raise invalid_query(parameter.name, message)
    if operator == "$text" and len(parameter.values[0]) > MAX_TEXT_FILTER:
        raise invalid_query(parameter.name, f"$text accepts at most {MAX_TEXT_FILTER} characters.")
    reader = READERS[declaration.kind]
    read = tuple(reader(parameter.name, value) for value in parameter.values)
    return Condition(
        field, operator, tuple(map(_like_pattern, read)) if operator == "$text" else read
    )


def _like_pattern(value: str | int) -> str:
    """A pattern for `like`: the text at any position, in any case."""
    return f"%{escaped(str(value).lower())}%"


def escaped(text: str) -> str:
    """The text with the wildcards of `like … escape '\\'` escaped."""
    for sign in ("\\", "%", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text


def _is_comparable(field: Field, operator: str, rest: list[str]) -> bool:
    if operator not in OPERATORS or (operator == "$text" and field.kind is not FieldKind.TEXT):
        return False
    if rest and not (operator == "$in" and (rest == [""] or rest[0].isdigit()) and len(rest) == 1):
        return False
    return operator in UNORDERED or not (field.kind is FieldKind.BOOL or field.is_condition)


def _sort(of: Listable, parameter: _Parameter) -> tuple[str, bool]:
    declaration = _require_declared(of, parameter)
    if len(parameter.path) != 2 or declaration.is_condition or "{n}" in declaration.column:
        message = f"The list cannot be sorted by {parameter.path[1]!r}."
        raise invalid_query(parameter.name, message, "unknown_field")
    if parameter.values[-1] not in ("1", "-1"):
        raise invalid_query(parameter.name, f"{parameter.name} must be 1 or -1.")
    return parameter.path[1], parameter.values[-1] == "-1"


def _include(of: Listable, parameters: list[_Parameter]) -> frozenset[str]:
    for parameter in parameters:
        if parameter.path[1] not in of.includes:
            _require_declared(of, parameter)
    return frozenset(
        parameter.path[1]
        for parameter in parameters
        if values.boolean(parameter.name, parameter.values[-1])
    )


def _limit(of: Listable, query: Query) -> int | None:
    limit = values.integer("limit", query["limit"][-1]) if "limit" in query else 0
    if limit < 0:
        raise invalid_query("limit", "limit must be an integer that is not negative.")
    # TheEye reads 0 as "all".
    if limit == 0:
        return of.most
    return limit if of.most is None else min(limit, of.most)


def _skip(query: Query) -> int:
    skip = values.integer("skip", query["skip"][-1]) if "skip" in query else 0
    if not 0 <= skip <= MAX_SKIP:
        raise invalid_query("skip", f"skip must be an integer from 0 to {MAX_SKIP}.")
    return skip


def _after(of: Listable, query: Query, sort: tuple[tuple[str, bool], ...]) -> str | None:
    if "after" not in query:
        return None
    after = query["after"][-1]
    if not ids.is_id(after):
        raise invalid_query("after", "after must be the id of the last record that you have.")
    if (sort[0][0] if sort else of.order) != "id":
        raise invalid_query(
            "after", "after works only in the order of the ids: sort[id]=1 or sort[id]=-1."
        )
    return after
