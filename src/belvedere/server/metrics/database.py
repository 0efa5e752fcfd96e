"""Metrics that are counted in the database when the metrics are read, in one bounded read."""

from collections.abc import Iterator, Mapping

from belvedere.base.clock import Millis
from belvedere.db import Tx, installation
from belvedere.events import cursors
from belvedere.jobs.recovery import hold
from belvedere.jobs.search import progress
from belvedere.server.metrics import queues
from belvedere.server.metrics.text_format import Family, gauge

MAX_ROWS = 50_000
# Name and kinds of events of each consumer.
Consumers = Mapping[str, frozenset[str]]


def read(tx: Tx, consumers: Consumers) -> list[Family]:
    return [
        *queues.families(queues.read_jobs(tx), queues.read_hosts(tx), tx.now),
        *_monitors(tx),
        *_events(tx, consumers),
        *_outbox(tx),
        gauge(
            "belvedere_jobs_held",
            "Jobs held since the database was restored: they may have run.",
            hold.count(tx),
        ),
        gauge(
            "belvedere_search_index_complete",
            "Whether the search index has all jobs (1), or is still filled after an upgrade (0).",
            int(progress.is_complete(tx)),
        ),
        gauge(
            "belvedere_epoch",
            "Epoch of the database: raised by every restore and failover.",
            installation.epoch_of(installation.newest_fence(tx)),
        ),
    ]


def _monitors(tx: Tx) -> Iterator[Family]:
    rows = tx.rows(
        "select state, count(*) from (select case when enabled = 1 then state else 'paused' end as"
        " state from monitors where deleted_at is null limit ?) m group by state order by state",
        MAX_ROWS,
    )
    yield Family(
        "belvedere_monitors",
        "gauge",
        "Monitors by state.",
        ("state",),
        [((state,), int(count)) for state, count in rows],
    )
    due_at = tx.value(
        "select due_at from monitors where due_at is not null and deleted_at is null"
        " order by due_at limit 1"
    )
    yield gauge(
        "belvedere_monitor_overdue_seconds",
        "How long the oldest missing result of a monitor is overdue.",
        _age_s(tx, due_at),
    )


def _events(tx: Tx, consumers: Consumers) -> Iterator[Family]:
    yield Family(
        "belvedere_event_lag_seconds",
        "gauge",
        "Age of the oldest event that a consumer of the event log has not processed.",
        ("consumer",),
        [
            ((name,), _age_s(tx, cursors.oldest_waiting(tx, name, kinds)))
            for name, kinds in consumers.items()
        ],
    )
    yield gauge(
        "belvedere_events_set_aside",
        "Events that a consumer could not process; `belvedere doctor` lists them.",
        int(tx.value("select count(*) from parked")),
    )


def _outbox(tx: Tx) -> Iterator[Family]:
    count = tx.value(
        "select count(*) from (select 1 as n from messages where state = 'waiting' limit ?) m",
        MAX_ROWS,
    )
    yield gauge("belvedere_outbox_messages", "Messages that wait to be sent.", int(count))
    due_at = tx.value("select due_at from messages where state = 'waiting' order by due_at limit 1")
    yield gauge(
        "belvedere_outbox_age_seconds",
        "How long the oldest message that is due has waited.",
        _age_s(tx, due_at),
    )


def _age_s(tx: Tx, since: Millis | None) -> float:
    return 0.0 if since is None else max(0, tx.now - since) / 1_000
