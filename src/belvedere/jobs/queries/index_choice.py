"""How far a list of jobs looks: whatever it is asked for, it need not read all history.

A list is read along one index, the narrowest that its conditions name, and on request only so far;
then it says where it stopped.
"""

from dataclasses import dataclass, replace

from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.jobs.model import IS_OPEN, OPEN
from belvedere.jobs.queries import idspan
from belvedere.jobs.queries.idspan import Span
from belvedere.rest.listing import Condition, Listing

OPEN_ONES = f"j.{IS_OPEN}"
# As its index says it, too.
_BAD_ONES = "j.state <> 'in_progress' and j.state <> 'normal' and j.state <> 'success'"
BADLY = ("canceled", "error", "failure", "lost", "timeout")
# Open jobs are read by an index without an order, as long as they are few.
FEW_OPEN = 10_000
# Where one of these is given, it narrows more than the organization does.
_NARROW = ("task_id", "workflow_job_id", "workflow_id")

Params = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """Conditions on `jobs j` that find an index for a list, what to order by before the id, what
    is still to be asked, and where the look ends: at the last job that is looked at, or with all
    history."""

    text: str
    params: Params
    rest: Listing
    order: str = ""
    until: str | None = None


def way(tx: Tx, customer_id: str, listing: Listing, most: int | None) -> Way:
    """`most`: look at so many jobs; None: at all of them, if need be."""
    down = _direction(listing)
    span = idspan.span(listing, down)
    if any(_among(one, "lifecycle", OPEN) for one in listing.conditions) and _few_are_open(tx):
        return _open_way(customer_id, listing, span, down)
    ids = next(filter(_names_ids, listing.conditions), None)
    if ids is not None:
        return _id_way(customer_id, listing, span, ids)
    whole = _along(tx, customer_id, listing, span, down)
    until = None if most is None or down is None else _until(tx, whole, down, most)
    if until is None:
        return whole
    end = {"low": (until, ">=")} if down else {"high": (until, "<=")}
    return replace(_along(tx, customer_id, listing, replace(span, **end), down), until=until)


def is_in_id_order(listing: Listing) -> bool:
    """Whether the list can be read in steps; in another order all of it is read at once."""
    return _direction(listing) is not None


def _among(one: Condition, field: str, words: tuple[str, ...]) -> bool:
    is_plain = one.field == field and one.operator in ("$eq", "$in")
    return is_plain and set(one.values) <= set(words)


def _few_are_open(tx: Tx) -> bool:
    text = f"select 1 as one from jobs j where {OPEN_ONES} and j.expires_at > 0 limit ?"
    return int(tx.value(f"select count(*) from ({text}) o", FEW_OPEN + 1)) <= FEW_OPEN


def _open_way(customer_id: str, listing: Listing, span: Span, down: bool | None) -> Way:
    """Written so that no other index fits: neither for the organization nor for ids, nor for a
    task, whose history may be long."""
    (low, over), (high, under) = span.low, span.high
    text = (
        f"{OPEN_ONES} and j.expires_at > 0 and j.customer_id || '' = ?"
        f" and j.id || '' {over} ? and j.id || '' {under} ?"
    )
    rest = idspan.rest(listing)
    narrow = [one for one in rest.conditions if one.field in _NARROW and one.operator == "$eq"]
    text += "".join(f" and j.{one.field} || '' = ?" for one in narrow)
    params = (customer_id, low, high, *(one.values[0] for one in narrow))
    rest = replace(rest, conditions=tuple(c for c in rest.conditions if c not in narrow))
    order = "" if down is None else f"j.id || ''{' desc' if down else ''}, "
    return Way(text, params, rest, order)


def _names_ids(condition: Condition) -> bool:
    return condition.field == "id" and condition.operator in ("$eq", "$in")


def _id_way(customer_id: str, listing: Listing, span: Span, ids: Condition) -> Way:
    """Jobs by their ids, as many as a request may name: no history is read for them."""
    (low, over), (high, under) = span.low, span.high
    marks = ", ".join("?" * len(ids.values))
    text = (
        f"j.id in ({marks}) and j.customer_id || '' = ?"
        f" and j.id || '' {over} ? and j.id || '' {under} ?"
    )
    rest = idspan.rest(listing)
    others = tuple(condition for condition in rest.conditions if condition is not ids)
    return Way(text, (*ids.values, customer_id, low, high), replace(rest, conditions=others))


def _along(tx: Tx, customer_id: str, listing: Listing, span: Span, down: bool | None) -> Way:
    rest = idspan.rest(listing)
    given = {one.field: one for one in listing.conditions if one.operator == "$eq"}
    narrow = next((name for name in _NARROW if name in given), None)
    if narrow is not None:
        one = given[narrow]
        rest = replace(rest, conditions=tuple(c for c in rest.conditions if c is not one))
        text, params = _between(tx.dialect, narrow, one.values[0], span)
        # Written out, too: indexes of columns that may be empty leave those out.
        text = f"{text} and j.{narrow} is not null and j.customer_id || '' = ?"
        params = (*params, customer_id)
    else:
        text, params = _between(tx.dialect, "customer_id", customer_id, span)
        if any(_among(one, "state", BADLY) for one in listing.conditions):
            text += f" and {_BAD_ONES}"
    return Way(text, params, rest, _order(tx.dialect, narrow or "customer_id", down))


def _between(dialect: Dialect, column: str, value: str | int, span: Span) -> tuple[str, Params]:
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
    """Whether newest come first; None: in another order, all must be read."""
    name, down = listing.sort[0] if listing.sort else (listing.of.order, listing.of.newest_first)
    return down if name == "id" else None


def _until(tx: Tx, whole: Way, down: bool, most: int) -> str | None:
    rows = tx.rows(
        f"select j.id from jobs j where {whole.text}"
        f" order by {whole.order}j.id{' desc' if down else ''} limit 2 offset ?",
        *(*whole.params, most - 1),
    )
    # Without a second there is nothing behind the last.
    return rows[0][0] if len(rows) == 2 else None
