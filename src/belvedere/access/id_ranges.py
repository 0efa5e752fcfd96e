"""The part of a table that a list reads: a range of ids along an index on (columns, id)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from belvedere.base.clock import HOUR
from belvedere.rest.listing import Condition, Listing

Params = tuple[str | int, ...]

_ID_SIGNS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
# The time in an id may differ from that of its row if the clocks of servers differ.
_TIME_SIGNS = {
    **dict.fromkeys(("$gt", "$gte"), (">=", -HOUR)),
    **dict.fromkeys(("$lt", "$lte"), ("<", HOUR)),
}


@dataclass(frozen=True, slots=True)
class IdRange:
    """Lower and upper limit, each with its operator; the defaults include every id."""

    low: tuple[str, str] = ("", ">=")
    high: tuple[str, str] = ("g", "<")


@dataclass(frozen=True, slots=True)
class TimeField:
    """The field with the time of a row. Its id has the same time, or a later one if not `exact`."""

    name: str
    exact: bool = True


def in_id_order(listing: Listing) -> Listing:
    """The order in which the rows of a list are examined: in another order of its records, the
    newest first."""
    return listing if listing.is_by_id else replace(listing, sort=(("id", True),))


def of_listing(listing: Listing, time: TimeField | None) -> IdRange:
    """The conditions on time, id and page as one range of ids. Of several limits on one side only
    the nearest is used, because the database may start at the wrong one."""
    limits = [
        limit for condition in listing.conditions if (limit := _limit(condition, time)) is not None
    ]
    if listing.after is not None:
        down = in_id_order(listing).is_newest_first
        limits.append((listing.after, "<" if down else ">"))
    default = IdRange()
    low = max((limit for limit in limits if limit[1][0] == ">"), default=default.low)
    high = min((limit for limit in limits if limit[1][0] == "<"), default=default.high)
    return IdRange(low, high)


def is_range(condition: Condition) -> bool:
    """Whether the range covers the condition completely."""
    return condition.field == "id" and condition.operator in _ID_SIGNS


def between(
    columns: Sequence[str], values: Sequence[str], span: IdRange, *, as_rows: bool
) -> tuple[str, Params]:
    """SQL for: the columns have these values, and the id, the last column, is in the range. With
    `as_rows` all of them are compared at once: only their own index fits that."""
    (low, over), (high, under) = span.low, span.high
    if as_rows:
        names, marks = ", ".join(columns), ", ".join("?" for _ in columns)
        text = f"({names}) {over} ({marks}) and ({names}) {under} ({marks})"
        return text, (*values, low, *values, high)
    *scope, key = columns
    equal = "".join(f"{name} = ? and " for name in scope)
    return f"{equal}{key} {over} ? and {key} {under} ?", (*values, low, high)


def order(columns: Sequence[str], *, down: bool, as_rows: bool) -> str:
    """The columns of the index before the id, in the same direction; with a comma at the end."""
    if not as_rows:
        return ""
    return "".join(f"{name}{' desc' if down else ''}, " for name in columns[:-1])


def _limit(condition: Condition, time: TimeField | None) -> tuple[str, str] | None:
    if is_range(condition):
        return str(condition.values[0]), _ID_SIGNS[condition.operator]
    if time is None or condition.field != time.name or condition.operator not in _TIME_SIGNS:
        return None
    sign, margin = _TIME_SIGNS[condition.operator]
    if sign == "<" and not time.exact:
        return None
    return f"{max(int(condition.values[0]) + margin, 0):012x}", sign
