"""Jobs that are kept because an event consumer has not processed their events yet.

Consumers read the job of an event: notifications its task and people, triggers its output. If it
were deleted before, nobody would be notified, and a trigger would start its target without values.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from belvedere.db import Tx
from belvedere.events import cursors
from belvedere.jobs import store

# Waiting events of triggers that are read; beyond that, deletions wait for their consumer.
MAX_TRIGGERS = 5_000


@dataclass(frozen=True, slots=True)
class JobReaders:
    """What the server provides to deletions: the event consumers that read jobs."""

    # Their names, with the kinds of their events.
    kinds: Callable[[], Mapping[str, frozenset[str]]]


class TriggerData(msgspec.Struct):
    """The field of `trigger.fired` that names the job whose output the target gets."""

    job_id: str | None = None


_trigger_data = msgspec.json.Decoder(TriggerData).decode


class UnprocessedEvents:
    """Events that at least one of these consumers (name and kinds) has not processed."""

    def __init__(self, tx: Tx, consumers: Mapping[str, frozenset[str]]) -> None:
        self._tx = tx
        # The cursor before the first of them.
        self.start = cursors.processed_by_all(tx, consumers)
        rows = tx.rows(
            f"select data from events where {tx.dialect.beyond_cursor} and kind = 'trigger.fired'"
            f" order by {tx.dialect.in_order} limit ?",
            *(*self.start, MAX_TRIGGERS),
        )
        self.are_too_many = len(rows) == MAX_TRIGGERS
        self._sources = {job_id for (data,) in rows if (job_id := _trigger_data(data).job_id)}

    def without_their_jobs(self, job_ids: Sequence[str]) -> list[str]:
        """The jobs that no consumer will read."""
        if self.are_too_many:
            return []
        rows = self._tx.rows(
            f"select distinct object_id from events where object_id in {self._tx.dialect.in_texts}"
            f" and {self._tx.dialect.beyond_cursor}",
            *(store.json_array(job_ids), *self.start),
        )
        needed_ids = {job_id for (job_id,) in rows} | self._sources
        needed_ids |= self._steps_of(job_ids, needed_ids)
        return [job_id for job_id in job_ids if job_id not in needed_ids]

    def _steps_of(self, job_ids: Sequence[str], needed_ids: Collection[str]) -> set[str]:
        """The output of a workflow is that of its steps."""
        if not needed_ids:
            return set()
        rows = self._tx.rows(
            f"select id from jobs where id in {self._tx.dialect.in_texts}"
            f" and workflow_job_id in {self._tx.dialect.in_texts}",
            *(store.json_array(job_ids), store.json_array(sorted(needed_ids))),
        )
        return {job_id for (job_id,) in rows}
