"""The rows of jobs in the text index: written in the background, deleted with the jobs."""

from collections.abc import Sequence
from dataclasses import dataclass

from belvedere.access.id_ranges import IdRange
from belvedere.db import Tx
from belvedere.db.text_index import ScopeGroups, sample_scope
from belvedere.jobs import store
from belvedere.jobs.people.participants import Participants
from belvedere.jobs.search import texts, visibility
from belvedere.jobs.search.texts import SearchRow
from belvedere.rest.listing import Listing

TABLE = "job_search"
# Pages of a step that merges parts of the index: other writers wait for it.
MERGE_PAGES = 4
# Characters of a time in an id.
_TIME = 12
# If a sample has more matches, so many jobs match that the newest are soon found without the index.
MAX_SAMPLE = 100
# Fields of a list whose values are scopes of the index.
_OBJECTS = ("task_id", "workflow_id", "workflow_job_id")


def write(tx: Tx, job_ids: Sequence[str]) -> None:
    """Add jobs as they are now, or replace their rows."""
    index = tx.dialect.text_index
    people = visibility.participants_of(tx, job_ids)
    entries = [
        index.entry(
            row.id,
            [*_scopes(row), *visibility.job_scopes(row, people.get(row.id, Participants()))],
            texts.text_of(tx, row),
        )
        for row in texts.read_rows(tx, job_ids)
    ]
    if entries:
        tx.execute(index.write.format(table=TABLE), store.json_array(entries))


def delete(tx: Tx, job_ids: Sequence[str]) -> None:
    index = tx.dialect.text_index
    keys = [index.key(job_id) for job_id in job_ids]
    tx.execute(index.delete.format(table=TABLE), store.json_array(keys))


def merge_step(tx: Tx) -> bool:
    """Every batch of written jobs is a part of the index, and a search reads all parts. Merge a
    little; whether there may be more to merge. Only if the index of this engine has `merge`."""
    text_index = tx.dialect.text_index
    before = int(tx.value(text_index.changes))
    tx.execute(text_index.merge.format(table=TABLE), MERGE_PAGES)
    return int(tx.value(text_index.changes)) - before > 1


def _scopes(row: SearchRow) -> list[str]:
    """The organization is the first. Ids are unique, but a state has to name its organization."""
    objects = (row.task_id, row.workflow_id, row.workflow_job_id)
    states = _state_scope(row.customer_id, row.state)
    return [row.customer_id, states, *(object_id for object_id in objects if object_id)]


def _state_scope(customer_id: str, state: str) -> str:
    return f"{customer_id} {state}"


def scope_groups(customer_id: str, listing: Listing) -> list[list[str]]:
    """The organization, and the conditions that are scopes."""
    groups = [[customer_id]]
    for condition in listing.conditions:
        if condition.field in _OBJECTS and condition.operator == "$eq":
            groups.append([str(condition.values[0])])
        if condition.field == "state" and condition.operator in ("$eq", "$in"):
            groups.append([_state_scope(customer_id, str(state)) for state in condition.values])
    return groups


@dataclass(frozen=True, slots=True)
class IndexQuery:
    groups: ScopeGroups
    grams: Sequence[str]


def is_frequent(tx: Tx, query: IndexQuery) -> bool:
    """Whether too many jobs match for the index of this engine to be fast."""
    index = tx.dialect.text_index
    if not index.count:
        return False
    [[organization], *others] = query.groups
    sample = index.query([[sample_scope(organization, "00")], *others], query.grams)
    return int(tx.value(index.count.format(table=TABLE), sample, MAX_SAMPLE + 1)) > MAX_SAMPLE


def find(
    tx: Tx, query: IndexQuery, id_range: IdRange, limit: int, *, down: bool
) -> tuple[list[str], str | None]:
    """The next ids of the range that may match, in order, and the last one if there may be more."""
    index = tx.dialect.text_index
    rows = tx.rows(
        index.find.format(table=TABLE, order="desc" if down else "asc"),
        index.query(query.groups, query.grams),
        *(*index.range(id_range.low[0], id_range.high[0]), limit),
    )
    ids = [job_id for (job_id,) in rows]
    has_more = len(ids) == limit
    complete = _whole_times(ids) if has_more else ids
    page = sorted((job_id for job_id in complete if is_within(job_id, id_range)), reverse=down)
    if has_more and not page:
        # Every step must proceed, however many jobs have the same time.
        return find(tx, query, id_range, limit * 4, down=down)
    return page, page[-1] if has_more else None


def is_within(job_id: str, id_range: IdRange) -> bool:
    (low, over), (high, under) = id_range.low, id_range.high
    is_over = job_id > low or (over == ">=" and job_id == low)
    return is_over and (job_id < high or (under == "<=" and job_id == high))


def _whole_times(ids: list[str]) -> list[str]:
    """Without those of the last millisecond, of which some may be missing."""
    return [job_id for job_id in ids if job_id[:_TIME] != ids[-1][:_TIME]]
