"""Chooses the index for a list of jobs, so that no list has to read the whole history.

A list is read along the narrowest index that fits its conditions, and on request only up to a
number of jobs; then it reports where it stopped.
"""

from dataclasses import dataclass, replace

from belvedere.access import id_ranges
from belvedere.access.id_ranges import IdRange, Params, TimeField
from belvedere.db import Tx
from belvedere.jobs.model import IS_OPEN, OPEN
from belvedere.rest.listing import Condition, Listing

IS_OPEN_JOB = f"j.{IS_OPEN}"
# The conditions of their indexes.
_IS_RUNNING = "j.lifecycle = 'assigned'"
_IS_FAILED_JOB = "j.state <> 'in_progress' and j.state <> 'normal' and j.state <> 'success'"
FAILED_STATES = ("canceled", "error", "failure", "lost", "timeout")
# Up to this many open jobs are read by an index without an order: always, and if there are few
# among the newest jobs.
FEW_OPEN, MAX_OPEN_SCAN = 500, 10_000
# The newest jobs that are examined for that. If half of them match, reading along the index of
# the organization soon fills a page, however many others wait. A step then reads this many.
HEAD_ROWS, DENSE_STEP = 200, 2_000
# A condition on one of these selects fewer jobs than the organization.
_NARROW = ("task_id", "workflow_job_id", "workflow_id")

CREATED = TimeField("creation_date")


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
    id_range = id_ranges.of_listing(listing, CREATED)
    lifecycle = next((c for c in listing.conditions if _is_within(c, "lifecycle", OPEN)), None)
    if lifecycle is not None:
        open_plan = _open_jobs_plan(customer_id, listing, id_range, newest_first, lifecycle)
        along = _index_plan(tx, customer_id, listing, id_range, newest_first)
        if _IS_RUNNING in open_plan.text or _open_count_is_within(tx, FEW_OPEN):
            return open_plan
        if newest_first is not None and _is_dense(tx, along, newest_first, lifecycle):
            limit = None if limit is None else min(limit, DENSE_STEP)
        elif _open_count_is_within(tx, MAX_OPEN_SCAN):
            return open_plan
    ids = next(filter(names_ids, listing.conditions), None)
    if ids is not None:
        return _ids_plan(customer_id, listing, id_range, ids)
    walks_down = id_ranges.in_id_order(listing).is_newest_first
    until = None
    if limit is not None:
        walk = _index_plan(tx, customer_id, listing, id_range, walks_down)
        until = _last_id(tx, walk, walks_down, limit)
    if until is not None:
        end = {"low": (until, ">=")} if walks_down else {"high": (until, "<=")}
        id_range = replace(id_range, **end)
    plan = _index_plan(tx, customer_id, listing, id_range, newest_first)
    return replace(plan, until=until)


def is_short(tx: Tx, listing: Listing) -> bool:
    """Whether the conditions select few jobs by their ids or because they are open."""
    if any(map(names_ids, listing.conditions)):
        return True
    is_open = any(_is_within(condition, "lifecycle", OPEN) for condition in listing.conditions)
    return is_open and _open_count_is_within(tx, FEW_OPEN)


def _is_within(condition: Condition, field: str, words: tuple[str, ...]) -> bool:
    is_plain = condition.field == field and condition.operator in ("$eq", "$in")
    return is_plain and set(condition.values) <= set(words)


def _open_count_is_within(tx: Tx, limit: int) -> bool:
    text = f"select 1 as one from jobs j where {IS_OPEN_JOB} and j.expires_at > 0 limit ?"
    return int(tx.value(f"select count(*) from ({text}) o", limit + 1)) <= limit


def _is_dense(tx: Tx, plan: IndexPlan, newest_first: bool, lifecycle: Condition) -> bool:
    """Whether at least half of the next jobs along this index have such a lifecycle."""
    rows = tx.rows(
        f"select j.lifecycle from jobs j where {plan.text}"
        f" order by {plan.order}j.id{' desc' if newest_first else ''} limit ?",
        *(*plan.params, HEAD_ROWS),
    )
    return 2 * sum(word in lifecycle.values for (word,) in rows) >= HEAD_ROWS


def _open_jobs_plan(
    customer_id: str,
    listing: Listing,
    id_range: IdRange,
    newest_first: bool | None,
    lifecycle: Condition,
) -> IndexPlan:
    """`|| ''` keeps the database from using the indexes of organization, id or task, whose history
    may be long."""
    (low, over), (high, under) = id_range.low, id_range.high
    # Running jobs have an index of their own, which is as short as the hosts have slots.
    is_running = set(lifecycle.values) == {"assigned"}
    open_jobs = _IS_RUNNING if is_running else f"{IS_OPEN_JOB} and j.expires_at > 0"
    text = (
        f"{open_jobs} and j.customer_id || '' = ? and j.id || '' {over} ? and j.id || '' {under} ?"
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


def names_ids(condition: Condition) -> bool:
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
        text, params = _between(tx, narrow, str(condition.values[0]), id_range)
        # Repeats the condition of the partial indexes.
        text = f"{text} and j.{narrow} is not null and j.customer_id || '' = ?"
        params = (*params, customer_id)
    else:
        text, params = _between(tx, "customer_id", customer_id, id_range)
        if any(_is_within(condition, "state", FAILED_STATES) for condition in listing.conditions):
            text += f" and {_IS_FAILED_JOB}"
    return IndexPlan(text, params, rest, _order(tx, narrow or "customer_id", newest_first))


def _between(tx: Tx, column: str, value: str, id_range: IdRange) -> tuple[str, Params]:
    keys = (f"j.{column}", "j.id")
    return id_ranges.between(keys, (value,), id_range, as_rows=tx.dialect.compares_pairs)


def _order(tx: Tx, column: str, down: bool | None) -> str:
    if down is None:
        return ""
    as_rows = tx.dialect.compares_pairs
    return id_ranges.order((f"j.{column}", "j.id"), down=down, as_rows=as_rows)


def _direction(listing: Listing) -> bool | None:
    """Whether the newest come first; None: another order, jobs are sorted after reading."""
    return listing.is_newest_first if listing.is_by_id else None


def _last_id(tx: Tx, plan: IndexPlan, newest_first: bool, limit: int) -> str | None:
    rows = tx.rows(
        f"select j.id from jobs j where {plan.text}"
        f" order by {plan.order}j.id{' desc' if newest_first else ''} limit 2 offset ?",
        *(*plan.params, limit - 1),
    )
    # Without a second row nothing follows.
    return rows[0][0] if len(rows) == 2 else None


def _without_ids(listing: Listing) -> Listing:
    """The conditions that the range of ids does not cover."""
    others = tuple(
        condition for condition in listing.conditions if not id_ranges.is_range(condition)
    )
    return replace(listing, conditions=others, after=None)
