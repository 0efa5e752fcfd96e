"""One step of a search: the next jobs whose texts contain every term, along the text index where it
is complete, otherwise along the index of the list."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from belvedere.access import id_ranges
from belvedere.access.actor import Actor
from belvedere.access.id_ranges import IdRange
from belvedere.db import Tx
from belvedere.jobs.search import index, progress, terms, texts, visibility
from belvedere.jobs.search.index import IndexQuery
from belvedere.jobs.search.progress import Coverage
from belvedere.rest.listing import Listing

# Jobs of one step whose texts are compared.
MAX_CANDIDATES = 1_000


@dataclass(frozen=True, slots=True)
class SearchStep:
    """Jobs that match, and the last id that was examined; None: the history is complete."""

    ids: list[str]
    until: str | None


# Ids along the index of the list, in its order, and the last id that was examined.
Walk = Callable[[IdRange, int], tuple[list[str], str | None]]


def next_step(
    tx: Tx, actor: Actor, listing: Listing, id_range: IdRange, limit: int, walk: Walk
) -> SearchStep:
    """`limit`: the number of jobs that may be examined."""
    words = terms.of_listing(listing)
    query = _index_query(tx, actor, listing, words)
    coverage = progress.coverage(tx, for_members=not actor.sees_all) if query else None
    if query is None or coverage is None or not _is_useful(tx, query, coverage):
        ids, until = walk(id_range, limit)
    else:
        down = id_ranges.in_id_order(listing).is_newest_first
        parts = _parts(coverage, id_range, down=down)
        ids, until = _read_parts(tx, query, parts, limit, walk, down=down)
        ids += coverage.fresh.difference(ids)
        examined_range = _examined_range(id_range, until, down=down)
        ids = [job_id for job_id in ids if index.is_within(job_id, examined_range)]
    return SearchStep(matching(tx, actor.customer_id, ids, words), until)


def _index_query(tx: Tx, actor: Actor, listing: Listing, words: Sequence[str]) -> IndexQuery | None:
    """None if the index cannot be used: short words, or too many objects that the actor may see."""
    grams = terms.grams(words)
    if not grams:
        return None
    groups = index.scope_groups(actor.customer_id, listing)
    if actor.sees_all:
        return IndexQuery(groups, grams)
    scopes = visibility.actor_scopes(tx, actor)
    return IndexQuery([*groups, scopes], grams) if scopes else None


def _is_useful(tx: Tx, query: IndexQuery, coverage: Coverage) -> bool:
    return coverage.low < coverage.high and not index.is_frequent(tx, query)


def _read_parts(
    tx: Tx,
    query: IndexQuery,
    parts: Iterable[tuple[IdRange, bool]],
    limit: int,
    walk: Walk,
    *,
    down: bool,
) -> tuple[list[str], str | None]:
    ids = list[str]()
    for part, is_indexed in parts:
        if is_indexed:
            next_ids, until = index.find(tx, query, part, MAX_CANDIDATES, down=down)
        else:
            next_ids, until = walk(part, max(1, limit - len(ids)))
        ids += next_ids
        if until is not None:
            return ids, until
    return ids, None


def _parts(coverage: Coverage, id_range: IdRange, *, down: bool) -> list[tuple[IdRange, bool]]:
    """The range in the order of the search: what is in the index, and what is not."""
    everything = IdRange()
    parts = [
        (IdRange(everything.low, (coverage.low, "<")), False),
        (IdRange((coverage.low, ">="), (coverage.high, "<")), True),
        (IdRange((coverage.high, ">="), everything.high), False),
    ]
    ranges = [(_intersection(part, id_range), is_indexed) for part, is_indexed in parts]
    parts = [(part, is_indexed) for part, is_indexed in ranges if not _is_empty(part)]
    return parts[::-1] if down else parts


def _is_empty(part: IdRange) -> bool:
    (low, over), (high, under) = part.low, part.high
    return low > high or (low == high and (over, under) != (">=", "<="))


def _intersection(part: IdRange, limits: IdRange) -> IdRange:
    # If two limits have the same id, take the one that excludes it.
    low = max(part.low, limits.low, key=lambda limit: (limit[0], limit[1] == ">"))
    return IdRange(low, min(part.high, limits.high))


def _examined_range(id_range: IdRange, until: str | None, *, down: bool) -> IdRange:
    if until is None:
        return id_range
    end = {"low": (until, ">=")} if down else {"high": (until, "<=")}
    return replace(id_range, **end)


def matching(tx: Tx, customer_id: str, ids: Sequence[str], words: Sequence[str]) -> list[str]:
    """Those of the organization whose texts contain every word."""
    return [
        row.id
        for row in texts.read_rows(tx, ids)
        if row.customer_id == customer_id and texts.contains_all(tx, row, words)
    ]
