"""What a list is asked for: where[...], sort[...], limit, after, include[...], count.

A resource declares its fields in a `Listable`; `read` checks a query against it and refuses what
is not declared. `rest/listing_sql.py` turns the outcome into SQL.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from belvedere.base import ids
from belvedere.rest import query as values
from belvedere.rest.query import bad

Query = Mapping[str, list[str]]

MAX_VALUES = 1_000
# Conditions of one list, and characters that are looked for with $text in each row.
MAX_CONDITIONS = 100
MAX_SOUGHT = 256


class Kind(StrEnum):
    TEXT = "text"
    INT = "int"
    BOOL = "bool"
    TIME = "time"


READERS: dict[Kind, Callable[[str, str], str | int]] = {
    Kind.TEXT: values.text,
    Kind.INT: values.whole,
    Kind.BOOL: values.yes_or_no,
    Kind.TIME: values.time,
}
OPERATORS = frozenset({"$eq", "$ne", "$in", "$gt", "$gte", "$lt", "$lte", "$text"})
UNORDERED = frozenset({"$eq", "$ne", "$in", "$text"})
MAX_SKIP = 100_000


@dataclass(frozen=True, slots=True)
class Field:
    """Where a field of the interface lies in the database.

    `column` is a column or an expression. With `{test}` inside it is a whole condition, such as
    `exists (select 1 from acl where … and entry {test})`; with `{n}` the field is declared as
    `name.N` and the number asked for is written there.
    """

    column: str
    kind: Kind = Kind.TEXT

    @property
    def is_condition(self) -> bool:
        return "{test}" in self.column


@dataclass(frozen=True, slots=True)
class Listable:
    """What the list of one resource can be asked for."""

    fields: Mapping[str, Field]
    # Parts of a record that are left out unless include[...] names them.
    includes: frozenset[str] = frozenset()
    # The order of a list that asks for none: a declared field.
    order: str = "id"
    newest_first: bool = False
    # For lists without an end: as many as are given at once.
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
    # It ends before its limit because the answer would have too many bytes.
    is_cut: bool = False
    # Bytes of its records, where they were counted.
    size: int = 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """One bracketed parameter: as it was written, its parts, its values."""

    name: str
    path: list[str]
    values: list[str]


def read(query: Query, of: Listable) -> Listing:
    """Check the query against the declaration. Names that are not ours are ignored."""
    asked = list(_asked(query))
    if sum(one.path[0] == "where" for one in asked) > MAX_CONDITIONS:
        raise bad("where", f"A list takes at most {MAX_CONDITIONS} conditions.")
    conditions = tuple(_condition(of, one) for one in asked if one.path[0] == "where")
    if sum(len(condition.values) for condition in conditions) > MAX_VALUES:
        raise bad("where", f"A list takes at most {MAX_VALUES} values.")
    sort = tuple(_sort(of, one) for one in asked if one.path[0] == "sort")
    return Listing(
        of=of,
        conditions=conditions,
        sort=sort,
        limit=_limit(of, query),
        after=_after(of, query, sort),
        include=_include(of, [one for one in asked if one.path[0] == "include"]),
        count=values.yes_or_no("count", query.get("count", ["false"])[-1]) == 1,
        skip=_skip(query) if of.may_skip else 0,
    )


_NAME = re.compile(r"([a-z]+)((?:\[[^\[\]]*\])+)")
_PART = re.compile(r"\[([^\[\]]*)\]")


def _asked(query: Query) -> Iterator[_Asked]:
    for name, given in query.items():
        found = _NAME.fullmatch(name)
        if found is None:
            continue
        path = [found[1], *_PART.findall(found[2])]
        # The original's host list wraps everything once more: filter[where][hostname]=.
        if path[0] == "filter":
            path = path[1:]
        if len(path) > 1 and path[0] in ("where", "sort", "include"):
            yield _Asked(name, path, given)


def declared(of: Listable, field: str) -> Field | None:
    """The declaration of a field; `name.7` is found under `name.N`."""
    if field in of.fields:
        return None if field.endswith(".N") else of.fields[field]
    stem, _, number = field.rpartition(".")
    return of.fields.get(f"{stem}.N") if re.fullmatch("[0-9]{1,3}", number) else None


def _declared(of: Listable, one: _Asked) -> Field:
    found = declared(of, one.path[1])
    if found is None:
        known = ", ".join(sorted(of.fields))
        message = f"There is no field {one.path[1]!r} here; there are {known}."
        raise bad(one.name, message, "unknown_field")
    return found


def _condition(of: Listable, one: _Asked) -> Condition:
    found = _declared(of, one)
    field, operator, rest = one.path[1], one.path[2] if len(one.path) > 2 else "$eq", one.path[3:]
    if not _is_comparable(found, operator, rest):
        message = f"The field {field!r} cannot be compared this way: {one.name}."
        raise bad(one.name, message, "unknown_operator")
    if operator != "$in" and len(one.values) != 1:
        message = f"{one.name} is given {len(one.values)} times; use where[{field}][$in][]=."
        raise bad(one.name, message)
    if operator == "$text" and len(one.values[0]) > MAX_SOUGHT:
        raise bad(one.name, f"$text takes at most {MAX_SOUGHT} characters.")
    reader = READERS[found.kind]
    read = tuple(reader(one.name, value) for value in one.values)
    return Condition(field, operator, tuple(map(_within, read)) if operator == "$text" else read)


def _within(value: str | int) -> str:
    """A pattern for `like`: the text anywhere, whatever its case."""
    return f"%{escaped(str(value).lower())}%"


def escaped(text: str) -> str:
    """What stands for itself in a pattern of `like … escape '\\'`."""
    for sign in ("\\", "%", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text


def _is_comparable(field: Field, operator: str, rest: list[str]) -> bool:
    if operator not in OPERATORS or (operator == "$text" and field.kind is not Kind.TEXT):
        return False
    if rest and not (operator == "$in" and (rest == [""] or rest[0].isdigit()) and len(rest) == 1):
        return False
    return operator in UNORDERED or not (field.kind is Kind.BOOL or field.is_condition)


def _sort(of: Listable, one: _Asked) -> tuple[str, bool]:
    found = _declared(of, one)
    if len(one.path) != 2 or found.is_condition or "{n}" in found.column:
        message = f"The list cannot be sorted by {one.path[1]!r}."
        raise bad(one.name, message, "unknown_field")
    if one.values[-1] not in ("1", "-1"):
        raise bad(one.name, f"{one.name} takes 1 or -1.")
    return one.path[1], one.values[-1] == "-1"


def _include(of: Listable, asked: list[_Asked]) -> frozenset[str]:
    for one in asked:
        if one.path[1] not in of.includes:
            _declared(of, one)
    return frozenset(one.path[1] for one in asked if values.yes_or_no(one.name, one.values[-1]))


def _limit(of: Listable, query: Query) -> int | None:
    limit = values.whole("limit", query["limit"][-1]) if "limit" in query else 0
    if limit < 0:
        raise bad("limit", "limit takes a whole number that is not negative.")
    # The original reads 0 as "all".
    if limit == 0:
        return of.most
    return limit if of.most is None else min(limit, of.most)


def _skip(query: Query) -> int:
    skip = values.whole("skip", query["skip"][-1]) if "skip" in query else 0
    if not 0 <= skip <= MAX_SKIP:
        raise bad("skip", f"skip takes a whole number from 0 to {MAX_SKIP}.")
    return skip


def _after(of: Listable, query: Query, sort: tuple[tuple[str, bool], ...]) -> str | None:
    if "after" not in query:
        return None
    after = query["after"][-1]
    if not ids.is_id(after):
        raise bad("after", "after takes the id of the last record that you have.")
    if (sort[0][0] if sort else of.order) != "id":
        raise bad("after", "after works only in the order of the ids: sort[id]=1 or sort[id]=-1.")
    return after
