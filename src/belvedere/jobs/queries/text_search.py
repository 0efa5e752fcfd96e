"""Lists of jobs that contain a text: each step becomes a list of the jobs that match."""

from dataclasses import replace

from belvedere.access import id_ranges
from belvedere.access.actor import Actor
from belvedere.access.id_ranges import IdRange
from belvedere.db import Tx
from belvedere.jobs import permissions
from belvedere.jobs.queries import index_choice
from belvedere.jobs.queries.index_choice import CREATED
from belvedere.jobs.search import candidates, terms
from belvedere.jobs.search.candidates import SearchStep
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.listing_sql import clauses

# The limit of one step, if the caller has none.
MAX_ROWS = 100_000


def next_step(tx: Tx, actor: Actor, listing: Listing, limit: int | None) -> SearchStep:
    """Examine at most `limit` jobs. What is found is still to be filtered by the other conditions
    and by what the actor may see: a job whose ACL was changed a moment ago."""
    plain = terms.without_search(listing)
    most = limit or MAX_ROWS

    def walk(id_range: IdRange, rows: int) -> tuple[list[str], str | None]:
        return _walk(tx, actor, _in_range(plain, id_range), rows)

    id_range = id_ranges.of_listing(listing, CREATED)
    if index_choice.is_short(tx, plain):
        ids, until = walk(id_range, most)
        words = terms.of_listing(listing)
        return SearchStep(candidates.matching(tx, actor.customer_id, ids, words), until)
    return candidates.next_step(tx, actor, listing, id_range, most, walk)


def of_ids(listing: Listing, ids: list[str]) -> Listing:
    """The same list of these jobs only; there must be one at least."""
    plain = terms.without_search(listing)
    others = tuple(c for c in plain.conditions if not index_choice.names_ids(c))
    return replace(plain, conditions=(*others, Condition("id", "$in", tuple(ids))))


def _in_range(listing: Listing, id_range: IdRange) -> Listing:
    (low, over), (high, under) = id_range.low, id_range.high
    limits = (
        Condition("id", "$gte" if over == ">=" else "$gt", (low,)),
        Condition("id", "$lte" if under == "<=" else "$lt", (high,)),
    )
    return replace(listing, conditions=(*listing.conditions, *limits), after=None)


def _walk(tx: Tx, actor: Actor, listing: Listing, limit: int) -> tuple[list[str], str | None]:
    """The next jobs that the actor may see, along the index that fits the other conditions."""
    visible, params = permissions.visible_filter(actor, tx.dialect)
    plan = index_choice.choose_index(tx, actor.customer_id, listing, limit)
    filters = clauses(plan.rest)
    rows = tx.rows(
        f"select j.id from jobs j where {plan.text} and {visible}{filters.where}",
        *(*plan.params, *params, *filters.params),
    )
    return [job_id for (job_id,) in rows], plan.until
