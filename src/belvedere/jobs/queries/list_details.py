"""What a list of jobs shows besides its rows: the number of jobs by state, and arguments as short
texts."""

from collections.abc import Sequence

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx, columns
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import index_choice
from belvedere.rest.listing import Listing
from belvedere.rest.listing_sql import clauses
from belvedere.tasks.definition.argument_values import mask_values

# Jobs that are counted; the counts say if there are more.
MAX_COUNTED = 20_000
MAX_IDS = 100
# Of one job.
MAX_TEXTS, MAX_TEXT_LENGTH = 8, 60
# Arguments that are longer as JSON, such as files, are not read.
MAX_STORED_LENGTH = 8_192


class StateCount(msgspec.Struct):
    lifecycle: str
    state: str
    count: int


class StateCounts(msgspec.Struct):
    """`more`: the newest 20,000 jobs were counted, and there are older ones."""

    counts: list[StateCount]
    more: bool


class JobArguments(msgspec.Struct):
    """The arguments of one job as short texts, masked ones left out. `more`: there are others."""

    id: str
    texts: list[str]
    more: bool


def count_states(tx: Tx, actor: Actor, listing: Listing) -> StateCounts:
    """The number of jobs that the conditions select, by lifecycle and state."""
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
    """Of the jobs that the actor may see."""
    visible, params = permissions.visible_filter(actor, tx.dialect)
    rows = tx.rows(
        f"select {columns(JobRow, 'j.')}, case when length(j.arguments) <= ? then j.arguments end"
        " from jobs j join customers c on c.id = j.customer_id"
        f" where j.customer_id = ? and j.id in {tx.dialect.in_texts}"
        f" and {store.UNPURGED} and {visible}",
        *(MAX_STORED_LENGTH, actor.customer_id, store.json_array(ids), *params),
    )
    return [_arguments(tx, JobRow(*row[:-1]), row[-1]) for row in rows]


def _arguments(tx: Tx, job: JobRow, text: str | None) -> JobArguments:
    if text is None:
        return JobArguments(job.id, [], True)
    definitions = specs.for_job(tx, job).task_arguments
    hidden = {n for n, definition in enumerate(definitions) if definition.masked}
    values = mask_values(definitions, msgspec.json.decode(text))
    texts = [_short(value) for n, value in enumerate(values) if n not in hidden]
    return JobArguments(job.id, texts[:MAX_TEXTS], len(texts) > MAX_TEXTS)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT_LENGTH else line[: MAX_TEXT_LENGTH - 1] + "…"
