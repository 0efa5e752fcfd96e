"""Chooses the index for a list of jobs, so that no list has to read the whole history.

A list is read along the narrowest index that fits its conditions, and on request only up to a
number of jobs; then it reports where it stopped.
"""

from dataclasses import dataclass, replace

from belvedere.base.clock import HOUR
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.jobs.model import IS_OPEN, OPEN
from belvedere.rest.listing import Condition, Listing

IS_OPEN_JOB = f"j.{IS_OPEN}"
# The condition of its index.
_IS_FAILED_JOB = "j.state <> 'in_progress' and j.state <> 'normal' and j.state <> 'success'"
FAILED_STATES = ("canceled", "error", "failure", "lost", "timeout")
# Up to this many open jobs are read by an index without an order.
MAX_OPEN_SCAN = 10_000
# A condition on one of these selects fewer jobs than the organization.
_NARROW = ("task_id", "workflow_job_id", "workflow_id")

_ID_SIGNS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
# The time in an id may differ from created_at if the clocks of servers differ.
_TIME_SIGNS = {
    **dict.fromkeys(("$gt", "$gte"), (">=", -HOUR)),
    **dict.fromkeys(("$lt", "$lte"), ("<", HOUR)),
}

Params = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class IdRange:
    """Lower and upper limit, each with its operator; the defaults include every id."""

    low: tuple[str, str] = ("", ">=")
    high: tuple[str, str] = ("g", "<")


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """Conditions on `jobs j` that select an index, the remaining conditions, the columns to order
    by before the id, and the last id that is read (None: the whole history)."""

    text: str
    params: Params
    rest: Listing
    order: str = ""
    until: str | None = None


def choose_index(tx: Tx, customer_id: str, listing: Listing, limit: int | None) -> IndexPlan:
    """`limit`: the number of jobs to read; None: all of them."""
    newest_first = _direction(listing)
    id_range = _id_range(listing, newest_first)
    if any(
        _is_within(condition, "lifecycle", OPEN) for condition in listing.conditions
    ) and _few_are_open(tx):
        return _open_jobs_plan(customer_id, listing, id_range, newest_first)
    ids = next(filter(_names_ids, listing.conditions), None)
    if ids is not None:
        return _ids_plan(customer_id, listing, id_range, ids)
    plan = _index_plan(tx, customer_id, listing, id_range, newest_first)
    until = (
        None if limit is None or newest_first is None else _last_id(tx, plan, newest_first, limit)
    )
    if until is None:
        return plan
    end = {"low": (until, ">=")} if newest_first else {"high": (until, "<=")}
    return replace(
        _index_plan(tx, customer_id, listing, replace(id_range, **end), newest_first), until=until
    )


def is_in_id_order(listing: Listing) -> bool:
    """Whether the list can be read in steps; another order needs all jobs at once."""
    return _direction(listing) is not None


def _is_within(condition: Condition, field: str, words: tuple[str, ...]) -> bool:
    is_plain = condition.field == field and condition.operator in ("$eq", "$in")
    return is_plain and set(condition.values) <= set(words)


def _few_are_open(tx: Tx) -> bool:
    text = f"select 1 as one from jobs j where {IS_OPEN_JOB} and j.expires_at > 0 limit ?"
    return int(tx.value(f"select count(*) from ({text}) o", MAX_OPEN_SCAN + 1)) <= MAX_OPEN_SCAN


def _open_jobs_plan(
    customer_id: str, listing: Listing, id_range: IdRange, newest_first: bool | None
) -> IndexPlan:
    """`|| ''` keeps the database from using the indexes of organization, id or task, whose history
    may be long."""
    (low, over), (high, under) = id_range.low, id_range.high
    text = (
        f"{IS_OPEN_JOB} and j.expires_at > 0 and j.customer_id || '' = ?"
        f" and j.id || '' {over} ? and j.id || '' {under} ?"
    )
    rest = _without_ids(listing)
    narrow = [
        condition
        for condition in rest.conditions
        if condition.field in _NARROW and condition.operator == "$eq"
    ]
    text += "".join(f" and j.{condition.field} || '' = ?" for condition in narrow)
    params = (customer_id, low, high, *(condition.values[0] for condition in narrow))
    rest = replace(rest, conditions=tuple(c for c in rest.conditions if c not in narrow))
    order = "" if newest_first is None else f"j.id || ''{' desc' if newest_first else ''}, "
    return IndexPlan(text, params, rest, order)


def _names_ids(condition: Condition) -> bool:
    return condition.field == "id" and condition.operator in ("$eq", "$in")


def _ids_plan(customer_id: str, listing: Listing, id_range: IdRange, ids: Condition) -> IndexPlan:
    """Jobs by id: no history is read."""
    (low, over), (high, under) = id_range.low, id_range.high
    marks = ", ".join("?" * len(ids.values))
    text = (
        f"j.id in ({marks}) and j.customer_id || '' = ?"
        f" and j.id || '' {over} ? and j.id || '' {under} ?"
    )
    rest = _without_ids(listing)
    others = tuple(condition for condition in rest.conditions if condition is not ids)
    return IndexPlan(text, (*ids.values, customer_id, low, high), replace(rest, conditions=others))


def _index_plan(
    tx: Tx, customer_id: str, listing: Listing, id_range: IdRange, newest_first: bool | None
) -> IndexPlan:
    rest = _without_ids(listing)
    by_field = {
        condition.field: condition
        for condition in listing.conditions
        if condition.operator == "$eq"
    }
    narrow = next((name for name in _NARROW if name in by_field), None)
    if narrow is not None:
        condition = by_field[narrow]
        rest = replace(rest, conditions=tuple(c for c in rest.conditions if c is not condition))
        text, params = _between(tx.dialect, narrow, condition.values[0], id_range)
        # Repeats the condition of the partial indexes.
        text = f"{text} and j.{narrow} is not null and j.customer_id || '' = ?"
        params = (*params, customer_id)
    else:
        text, params = _between(tx.dialect, "customer_id", customer_id, id_range)
        if any(_is_within(condition, "state", FAILED_STATES) for condition in listing.conditions):
            text += f" and {_IS_FAILED_JOB}"
    return IndexPlan(text, params, rest, _order(tx.dialect, narrow or "customer_id", newest_first))


def _between(dialect: Dialect, column: str, value: str | int, span: IdRange) -> tuple[str, Params]:
    low, high = span.low, span.high
    if dialect.compares_pairs:
        text = f"(j.{column}, j.id) {low[1]} (?, ?) and (j.{column}, j.id) {high[1]} (?, ?)"
        return text, (value, low[0], value, high[0])
    return f"j.{column} = ? and j.id {low[1]} ? and j.id {high[1]} ?", (value, low[0], high[0])


def _order(dialect: Dialect, column: str, down: bool | None) -> str:
    if down is None or not dialect.compares_pairs:
        return ""
    return f"j.{column}{' desc' if down else ''}, "


def _direction(listing: Listing) -> bool | None:
    """Whether the newest come first; None: another order, all jobs must be read."""
    name, down = listing.sort[0] if listing.sort else (listing.of.order, listing.of.newest_first)
    return down if name == "id" else None


def _last_id(tx: Tx, plan: IndexPlan, newest_first: bool, limit: int) -> str | None:
    rows = tx.rows(
        f"select j.id from jobs j where {plan.text}"
        f" order by {plan.order}j.id{' desc' if newest_first else ''} limit 2 offset ?",
        *(*plan.params, limit - 1),
    )
    # Without a second row nothing follows.
    return rows[0][0] if len(rows) == 2 else None


def _id_range(listing: Listing, newest_first: bool | None) -> IdRange:
    """The conditions on creation time, id and page as one range of ids. Of several limits on one
    side only the nearest is used, because the database may start at the wrong one."""
    limits = [limit for condition in listing.conditions if (limit := _limit(condition)) is not None]
    if listing.after is not None:
        limits.append((listing.after, "<" if newest_first else ">"))
    default = IdRange()
    low = max((limit for limit in limits if limit[1][0] == ">"), default=default.low)
    high = min((limit for limit in limits if limit[1][0] == "<"), default=default.high)
    return IdRange(low, high)


def _limit(condition: Condition) -> tuple[str, str] | None:
    if condition.field == "creation_date" and condition.operator in _TIME_SIGNS:
        sign, margin = _TIME_SIGNS[condition.operator]
        return f"{max(int(condition.values[0]) + margin, 0):012x}", sign
    if _is_of_ids(condition):
        return str(condition.values[0]), _ID_SIGNS[condition.operator]
    return None


def _is_of_ids(condition: Condition) -> bool:
    return condition.field == "id" and condition.operator in _ID_SIGNS


def _without_ids(listing: Listing) -> Listing:
    """The conditions that the range of ids does not cover."""
    others = tuple(condition for condition in listing.conditions if not _is_of_ids(condition))
    return replace(listing, conditions=others, after=None)
