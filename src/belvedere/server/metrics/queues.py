"""Open jobs, and why those that wait do not run, from one bounded read of the open jobs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.jobs.model import APPROVAL, HELD, IS_OPEN, RESTORED, WORKFLOW, Lifecycle
from belvedere.server.metrics.text_format import Family, Labels, label

# Open jobs and hosts that are counted; beyond these limits the metrics are too low.
MAX_JOBS = 50_000
MAX_HOSTS = 20_000
# Hosts with their own series: those that have waited longest. All others share one.
TOP_HOSTS = 20
OTHER = "other"


class HostState(msgspec.Struct):
    id: str
    hostname: str
    customer: str
    enabled: int
    draining: int
    connected_at: int | None
    gone_at: int | None
    disk_full_at: int | None
    slots: int

    @property
    def state(self) -> str:
        """The same words as the reason why a job waits for it, without `host_`."""
        if not self.enabled or self.draining:
            return "disabled" if not self.enabled else "draining"
        if self.connected_at is None:
            return "never_connected"
        if self.gone_at is not None:
            return "offline"
        return "connected" if self.disk_full_at is None else "disk_full"


class OpenJobs(msgspec.Struct):
    """Open jobs that do not differ in any label of the metrics."""

    lifecycle: str
    type: str
    origin: str
    host_id: str | None
    reason: str | None
    has_limit: int
    is_delayed: int
    count: int
    # When the oldest of them could have run.
    since: Millis


def read_hosts(tx: Tx) -> list[HostState]:
    return tx.all(
        HostState,
        "select h.id, h.hostname, c.name, h.enabled, h.draining, h.connected_at, h.gone_at,"
        " h.disk_full_at, h.slots from hosts h join customers c on c.id = h.customer_id"
        " where h.deleted_at is null limit ?",
        MAX_HOSTS,
    )


def read_jobs(tx: Tx) -> list[OpenJobs]:
    # The reason of a ready job is that of its last attempt.
    sql = (
        "select lifecycle, type, origin, host_id, reason, has_limit, is_delayed, count(*),"
        " min(since) from (select lifecycle, type, origin, host_id,"
        " case when lifecycle = 'onhold' then reason end as reason,"
        " case when concurrency is null then 0 else 1 end as has_limit,"
        " case when not_before_at > ? then 1 else 0 end as is_delayed,"
        " case when not_before_at > created_at then not_before_at else created_at end as since"
        f" from jobs where {IS_OPEN} limit ?) o"
        " group by lifecycle, type, origin, host_id, reason, has_limit, is_delayed"
    )
    return tx.all(OpenJobs, sql, tx.now, MAX_JOBS)


def families(jobs: Sequence[OpenJobs], hosts: Sequence[HostState], now: Millis) -> Iterator[Family]:
    by_state: Counter[Labels] = Counter()
    for group in jobs:
        by_state[group.lifecycle, group.origin] += group.count
    yield Family(
        "belvedere_jobs_open",
        "gauge",
        f"Jobs that have not ended, by lifecycle and origin, at most {MAX_JOBS}.",
        ("lifecycle", "origin"),
        sorted(by_state.items()),
    )
    by_host = Counter(host.state for host in hosts)
    yield Family(
        "belvedere_hosts",
        "gauge",
        "Hosts by the state of their agent.",
        ("state",),
        sorted(((state,), count) for state, count in by_host.items()),
    )
    yield from _queue_families(_waiting(jobs, {host.id: host for host in hosts}), now)


Waiting = dict[Labels, tuple[int, Millis]]


def _waiting(jobs: Sequence[OpenJobs], hosts: Mapping[str, HostState]) -> Waiting:
    """(organization, host, reason) -> jobs, and since when the oldest waits."""
    running: Counter[str | None] = Counter()
    for group in jobs:
        if group.lifecycle == Lifecycle.ASSIGNED:
            running[group.host_id] += group.count
    waiting: Waiting = {}
    for group in jobs:
        host = hosts.get(group.host_id or "")
        reason = _reason(group, host, running[group.host_id])
        if reason is not None:
            names = ("", "") if host is None else (label(host.customer), label(host.hostname))
            _merge(waiting, (*names, reason), group.count, group.since)
    return waiting


def _reason(group: OpenJobs, host: HostState | None, running: int) -> str | None:
    """Why these jobs wait, in the words of `waiting_reason` of a job; None if they do not."""
    match group.lifecycle:
        case Lifecycle.ONHOLD if group.reason in (RESTORED, HELD):
            return group.reason
        case Lifecycle.ONHOLD if group.type == WORKFLOW:
            return "concurrency_limit"
        case Lifecycle.ONHOLD:
            return "approval" if group.type == APPROVAL else "input"
        case Lifecycle.SYNCING:
            return "syncing"
        case Lifecycle.READY if group.is_delayed:
            return "delayed"
        case Lifecycle.READY:
            return _host_reason(group, host, running)
    return None


def _host_reason(group: OpenJobs, host: HostState | None, running: int) -> str:
    if host is None:
        return "queued"
    if host.state != "connected":
        return "host_offline" if host.state == "never_connected" else f"host_{host.state}"
    if running >= host.slots:
        return "host_busy"
    return "concurrency_limit" if group.has_limit else "queued"


def _merge(waiting: Waiting, key: Labels, count: int, since: Millis) -> None:
    before = waiting.get(key, (0, since))
    waiting[key] = (before[0] + count, min(before[1], since))


def _queue_families(waiting: Waiting, now: Millis) -> Iterator[Family]:
    labels = ("organization", "host", "reason")
    rows = sorted(_limit_hosts(waiting).items())
    yield Family(
        "belvedere_queue_jobs",
        "gauge",
        f"Jobs that wait, by host and reason; the {TOP_HOSTS} hosts with the oldest, the rest as"
        f" host {OTHER!r}.",
        labels,
        [(key, count) for key, (count, _) in rows],
    )
    yield Family(
        "belvedere_queue_age_seconds",
        "gauge",
        "How long the oldest of them has waited.",
        labels,
        [(key, max(0, now - since) / 1_000) for key, (_, since) in rows],
    )


def _limit_hosts(waiting: Waiting) -> Waiting:
    oldest: dict[Labels, Millis] = {}
    for key, (_, since) in waiting.items():
        oldest[key[:2]] = min(since, oldest.get(key[:2], since))
    top = set(sorted(oldest, key=lambda host: oldest[host])[:TOP_HOSTS])
    limited: Waiting = {}
    for key, (count, since) in waiting.items():
        _merge(limited, key if key[:2] in top else ("", OTHER, key[2]), count, since)
    return limited
