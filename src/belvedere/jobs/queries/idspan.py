"""Which ids a list of jobs can hold: of several limits on one side only the nearest is asked for,
because an index is read from one of them, and not always from that."""

from dataclasses import dataclass, replace

from belvedere.base.clock import HOUR
from belvedere.rest.listing import Condition, Listing

_IDS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
# An id may be a little younger or older than its row, where clocks disagree.
_TIMES = {
    **dict.fromkeys(("$gt", "$gte"), (">=", -HOUR)),
    **dict.fromkeys(("$lt", "$lte"), ("<", HOUR)),
}


@dataclass(frozen=True, slots=True)
class Span:
    """From and to, each with its sign; every id lies between the usual ones."""

    low: tuple[str, str] = ("", ">=")
    high: tuple[str, str] = ("g", "<")


def span(listing: Listing, down: bool | None) -> Span:
    """Times of creation, ids and the page before as one range of ids."""
    limits = [limit for one in listing.conditions if (limit := _limit(one)) is not None]
    if listing.after is not None:
        limits.append((listing.after, "<" if down else ">"))
    usual = Span()
    low = max((limit for limit in limits if limit[1][0] == ">"), default=usual.low)
    high = min((limit for limit in limits if limit[1][0] == "<"), default=usual.high)
    return Span(low, high)


def _limit(one: Condition) -> tuple[str, str] | None:
    if one.field == "creation_date" and one.operator in _TIMES:
        sign, margin = _TIMES[one.operator]
        return f"{max(int(one.values[0]) + margin, 0):012x}", sign
    if _is_of_ids(one):
        return str(one.values[0]), _IDS[one.operator]
    return None


def _is_of_ids(one: Condition) -> bool:
    return one.field == "id" and one.operator in _IDS


def rest(listing: Listing) -> Listing:
    """What the span does not say."""
    others = tuple(one for one in listing.conditions if not _is_of_ids(one))
    return replace(listing, conditions=others, after=None)
