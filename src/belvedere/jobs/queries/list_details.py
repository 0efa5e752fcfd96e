"""What a list of jobs shows besides its rows: the number of jobs by state, and arguments as short
texts."""

from collections.abc import Iterable, Sequence
from typing import TypeGuard

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx, columns
from belvedere.files import sizes_of
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import index_choice, text_search
from belvedere.jobs.search import terms
from belvedere.rest.listing import Listing
from belvedere.rest.listing_sql import clauses
from belvedere.tasks.definition.argument_values import mask_values

# Jobs that are counted; the counts say if there are more.
MAX_COUNTED = 20_000
MAX_IDS = 100
# Limits of one job.
MAX_TEXTS, MAX_TEXT_LENGTH = 8, 60
# Arguments that are longer as JSON are not read.
MAX_STORED_LENGTH = 8_192
UNITS = ("B", "kB", "MB")


class StateCount(msgspec.Struct):
    lifecycle: str
    state: str
    count: int


class StateCounts(msgspec.Struct):
    """`more`: the newest 20,000 jobs were counted, and there are older ones."""

    counts: list[StateCount]
    more: bool


class JobArguments(msgspec.Struct):
    """The arguments of one job as short texts, masked ones left out; a file by its name and size.
    `more`: there are others."""

    id: str
    texts: list[str]
    more: bool


def count_states(tx: Tx, actor: Actor, listing: Listing) -> StateCounts:
    """The number of jobs that the conditions select, by lifecycle and state."""
    if not terms.of_listing(listing):
        return _count_states(tx, actor, listing)
    step = text_search.next_step(tx, actor, listing, MAX_COUNTED)
    if not step.ids:
        return StateCounts([], step.until is not None)
    counts = _count_states(tx, actor, text_search.of_ids(listing, step.ids))
    counts.more = step.until is not None
    return counts


def _count_states(tx: Tx, actor: Actor, listing: Listing) -> StateCounts:
    visible, params = permissions.visible_filter(actor, tx.dialect)
    plan = index_choice.choose_index(tx, actor.customer_id, listing, MAX_COUNTED)
    filters = clauses(plan.rest)
    rows = tx.rows(
        "select j.lifecycle, j.state, count(*) from jobs j join customers c on c.id = j.customer_id"
        f" where {plan.text} and {store.UNPURGED} and {visible}{filters.where}"
        " group by j.lifecycle, j.state order by j.lifecycle, j.state",
        *(*plan.params, *params, *filters.params),
    )
    return StateCounts([StateCount(*row) for row in rows], plan.until is not None)


def list_arguments(tx: Tx, actor: Actor, ids: Sequence[str]) -> list[JobArguments]:
    """Only for jobs that the actor may see."""
    visible, params = permissions.visible_filter(actor, tx.dialect)
    rows = tx.rows(
        f"select {columns(JobRow, 'j.')}, case when length(j.arguments) <= ? then j.arguments end"
        " from jobs j join customers c on c.id = j.customer_id"
        f" where j.customer_id = ? and j.id in {tx.dialect.in_texts}"
        f" and {store.UNPURGED} and {visible}",
        *(MAX_STORED_LENGTH, actor.customer_id, store.json_array(ids), *params),
    )
    values = [(row[0], _visible_values(tx, JobRow(*row[:-1]), row[-1])) for row in rows]
    sizes = sizes_of(tx, {digest for _, listed in values for digest in _digests(listed or ())})
    return [_arguments(job_id, listed, sizes) for job_id, listed in values]


def _visible_values(tx: Tx, job: JobRow, text: str | None) -> list[object] | None:
    """Without masked ones, one more than shown; none if they are too long to be read."""
    if text is None:
        return None
    definitions = specs.for_job(tx, job).task_arguments
    hidden = {n for n, definition in enumerate(definitions) if definition.masked}
    values = mask_values(definitions, msgspec.json.decode(text))
    return [value for n, value in enumerate(values) if n not in hidden][: MAX_TEXTS + 1]


def _arguments(job_id: str, values: list[object] | None, sizes: dict[str, int]) -> JobArguments:
    if values is None:
        return JobArguments(job_id, [], True)
    texts = [_short(value, sizes) for value in values[:MAX_TEXTS]]
    return JobArguments(job_id, texts, len(values) > MAX_TEXTS)


def _digests(values: Iterable[object]) -> list[str]:
    return [value["blob"] for value in values if _is_file(value)]


def _is_file(value: object) -> TypeGuard[dict[str, str]]:
    """Files are the only values that are stored as objects; a JSON argument is a text."""
    return isinstance(value, dict) and "blob" in value and "filename" in value


def _short(value: object, sizes: dict[str, int]) -> str:
    if _is_file(value):
        size = sizes.get(value["blob"])
        suffix = "" if size is None else f" ({_size_text(size)})"
        return _cut(value["filename"], MAX_TEXT_LENGTH - len(suffix)) + suffix
    return _cut(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _size_text(size: int) -> str:
    """As in the console: "12 B", "1.5 kB", "204 MB"."""
    rest, step = float(size), 0
    while rest >= 1000 and step < len(UNITS) - 1:
        rest, step = rest / 1000, step + 1
    digits = 1 if step and rest < 100 else 0
    return f"{rest:.{digits}f} {UNITS[step]}"


def _cut(text: str, length: int = MAX_TEXT_LENGTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
