"""The connected agents of this server, by host; and the claim at the end of each transaction."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis
from belvedere.db import Query, Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.db.signals import Signal, SignalBus, Topic
from belvedere.jobs.attempts import ClaimResult, ReadyJob
from belvedere.jobs.lifecycle import claim, create, finish
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.jobs.lifecycle.finish import ReceivedReport, ReportOutcome
from belvedere.jobs.lifecycle.order import order_of
from belvedere.jobs.queries.ended_jobs import EndedJobs
from belvedere.protocol import FromServer, Order
from belvedere.tasks.store import with_host_query

log = logging.getLogger("belvedere.agents")


class MonitorUpdates(Protocol):
    """The monitors that a connected agent has."""

    @property
    def number(self) -> int: ...
    def on_signal(self, _: Signal | None = None) -> None: ...


class ConnectedAgent(Protocol):
    """What the server uses of a connection; connection.py implements it."""

    host_id: str
    session: int
    is_closing: bool
    # Whether the agent can be asked to connect elsewhere.
    moves: bool
    # The highest fence whose script has certainly started here, and the highest one recorded.
    accepted: int
    accepted_recorded: int
    # Time of the last frame by the clock of the event loop, and by that of the server; and whether
    # the latter is to be written to the database.
    last_frame_at: float
    seen_at: Millis
    is_heard: bool
    # Fences of open attempts, with their jobs.
    jobs: dict[int, str]

    @property
    def takes_work(self) -> bool: ...
    @property
    def monitor_sync(self) -> MonitorUpdates: ...
    def send_orders(self, orders: list[Order]) -> None: ...
    def cancel(self, fences: list[int]) -> None: ...
    def push(self, *messages: FromServer) -> None: ...
    def close(self, code: int, reason: str) -> None: ...
    def end(self, fault: Exception | None) -> None: ...
    def on_signal(self, _: Signal) -> None: ...


# Orders that are not durable yet, by connection.
ClaimedOrders = list[tuple[ConnectedAgent, list[Order]]]
# Connection, time of the claim, and the first fence of its orders.
PendingOrders = tuple[ConnectedAgent, Millis, int]
# The close code and the reason for an older session.
TAKEN_OVER = 4409, "another connection of this host took over"
# Three missed heartbeats.
SILENCE_S = 30.0
# A commit whose result is unknown for this long is treated as lost.
UNCONFIRMED_AFTER: Millis = 5 * SECOND
# Tasks whose last host is remembered.
MAX_TASK_HOSTS = 10_000


class AgentRegistry:
    """At most one connection per host; the one with the newest session replaces the others."""

    def __init__(self, base_url: str, keys: Keyring) -> None:
        # The address that scripts get; main sets it again when the port is known (--port 0).
        self.base_url = base_url
        self._keys = keys
        self._by_host: dict[str, ConnectedAgent] = {}
        self._contact_times: dict[tuple[str, int], Millis] = {}
        # Connections so far. The lists of monitors of all hosts, and this number, when every agent
        # here last had its list.
        self.added = 0
        self.compared_lists: tuple[tuple[int, int], int] | None = None
        # Whether nothing is claimed any more, because the server stops.
        self.is_stopped = False
        # Orders that wait for the commit of their transaction.
        self._pending: set[PendingOrders] = set()
        self.ended_jobs = EndedJobs(self._by_host.__contains__)
        # The host of the last job of a task, by organization and task. It may have changed since.
        self._task_hosts: dict[tuple[str, str], str] = {}

    def follow(self, signals: SignalBus) -> None:
        """Pass signals on to the agent of their host. One listener for all agents: two of its own
        would be a tenth of the memory of a connection."""
        signals.subscribe(Signal(Topic.CANCEL), self._on_cancel)
        signals.subscribe(Signal(Topic.WATCH), self._on_watch)

    def _on_cancel(self, signal: Signal) -> None:
        connection = self._by_host.get(signal.key)
        if connection is not None:
            connection.on_signal(signal)

    def _on_watch(self, signal: Signal) -> None:
        connection = self._by_host.get(signal.key)
        if connection is not None:
            connection.monitor_sync.on_signal(signal)

    def __len__(self) -> int:
        return len(self._by_host)

    def add(self, connection: ConnectedAgent) -> None:
        self.added += 1
        other = self._by_host.get(connection.host_id)
        if other is not None and other.session > connection.session and not other.is_closing:
            # The agent has connected again, and that session was ready earlier. One that is being
            # closed may have its number from before a failover.
            connection.close(*TAKEN_OVER)
            return
        self._by_host[connection.host_id] = connection
        if other is not None:
            other.close(*TAKEN_OVER)

    def remove(self, connection: ConnectedAgent) -> bool:
        if self._by_host.get(connection.host_id) is connection:
            del self._by_host[connection.host_id]
            if connection.is_heard:
                self.record(connection.host_id, connection.session, connection.seen_at)
            return True
        return False

    def for_host(self, host_id: str) -> ConnectedAgent | None:
        return self._by_host.get(host_id)

    def connections(self) -> list[ConnectedAgent]:
        return list(self._by_host.values())

    def claim_for_signalled_hosts(self, tx: Tx) -> None:
        """Claim for every host that was signalled in this transaction; send after the commit.

        One ordinary claim per host at the end, never one per job: the queue stays in order and
        the result of `create` does not change.
        """
        # In the same order everywhere: two servers that lock several hosts must not deadlock.
        for host_id in sorted([host_id for topic, host_id in tx.signals if topic is Topic.HOST]):
            connection = self._taker(host_id)
            if connection is not None:
                self._claim(tx, connection)

    def _taker(self, host_id: str) -> ConnectedAgent | None:
        """The agent of the host, if it takes work from this server now."""
        connection = self._by_host.get(host_id)
        if connection is None or self.is_stopped or not connection.takes_work:
            return None
        return connection

    def _claim(self, tx: Tx, connection: ConnectedAgent) -> None:
        claimed = claim.claim(tx, connection.host_id, connection.session)
        if claimed:
            self._send_after_commit(tx, connection, self._orders(connection, claimed))

    def create(self, tx: Tx, requests: list[JobRequest]) -> Sequence[CreatedJob | Exception]:
        """Create jobs; a job that a connected agent can run at once is inserted as assigned."""
        tx.prefetch(partial(self._likely_queries, tx, requests))
        claimed_orders: ClaimedOrders = []
        answers = create.create(tx, requests, partial(self._claim_new, claimed_orders))
        for connection, orders in claimed_orders:
            self._send_after_commit(tx, connection, orders)
        return answers

    def _likely_queries(self, tx: Tx, requests: Sequence[JobRequest]) -> list[Query]:
        """They read the task and lock its host, if all requests are for one task whose last jobs
        were claimed here. Not with a key: its insert may wait for another server, which may need
        the host."""
        actor, task_id = requests[0].actor, requests[0].task_id
        host_id = self._task_hosts.get((actor.customer_id, task_id))
        if host_id is None or self._taker(host_id) is None:
            return []
        is_plain = all(
            request.task_id == task_id
            and request.actor.customer_id == actor.customer_id
            and request.idempotency_key is None
            and request.secret is None
            for request in requests
        )
        if not is_plain:
            return []
        return [
            with_host_query(actor.customer_id, task_id),
            *claim.unwritten_queries(tx, host_id, len(requests)),
        ]

    def finish(self, tx: Tx, reported: list[ReceivedReport]) -> Sequence[ReportOutcome | Exception]:
        """Process reports of agents that are connected here."""
        return finish.finish(tx, reported, self.ended_jobs.announce)

    def _claim_new(
        self, claimed_orders: ClaimedOrders, tx: Tx, ready: Sequence[ReadyJob]
    ) -> ClaimResult:
        claims = ClaimResult()
        for host_id in sorted({job.host_id or "" for job, _ in ready}):
            connection = self._taker(host_id)
            if connection is not None:
                host_jobs = [(job, values) for job, values in ready if job.host_id == host_id]
                claims.add(self._claim_new_for(connection, claimed_orders, tx, host_jobs))
        return claims

    def _claim_new_for(
        self,
        connection: ConnectedAgent,
        claimed_orders: ClaimedOrders,
        tx: Tx,
        ready: Sequence[ReadyJob],
    ) -> ClaimResult:
        claimed, claims = claim.claim_unwritten(tx, connection.host_id, connection.session, ready)
        try:
            orders = self._orders(connection, claimed)
        except Exception:
            log.exception("order could not be created; its job waits for the next claim")
            return ClaimResult()
        if orders:
            claimed_orders.append((connection, orders))
            self._note_tasks(claimed)
        return claims

    def _note_tasks(self, claimed: Sequence[Claimed]) -> None:
        if len(self._task_hosts) > MAX_TASK_HOSTS:
            self._task_hosts.clear()
        for job in [item.job for item in claimed]:
            self._task_hosts[job.customer_id, job.task_id or ""] = job.host_id or ""

    def _orders(self, connection: ConnectedAgent, claimed: Sequence[Claimed]) -> list[Order]:
        return [order_of(item, connection.session, self.base_url, self._keys) for item in claimed]

    def _send_after_commit(self, tx: Tx, connection: ConnectedAgent, orders: list[Order]) -> None:
        pending = (connection, tx.now, orders[0].fence)
        self._pending.add(pending)
        around_commit(tx, "claim")
        tx.after_commit(lambda: self._confirm(pending, orders))

    def _confirm(self, pending: PendingOrders, orders: list[Order]) -> None:
        self._pending.discard(pending)
        pending[0].send_orders(orders)

    def unconfirmed(self, now: Millis) -> list[ConnectedAgent]:
        """Connections whose orders may or may not be durable, because the result of the commit was
        lost: the orders were not sent, but their jobs may be assigned."""
        overdue = [
            pending for pending in list(self._pending) if abs(now - pending[1]) > UNCONFIRMED_AFTER
        ]
        self._pending.difference_update(overdue)
        return [connection for connection, _, _ in overdue]

    def end_silent(self, now: float) -> None:
        """End the connections that were silent for too long. One pass over all of them costs less
        than a timer for each."""
        for connection in self.connections():
            if now - connection.last_frame_at > SILENCE_S:
                connection.end(TimeoutError())

    def record(self, host_id: str, session: int, now: Millis) -> None:
        """The agent of the host sent something, over any kind of connection."""
        self._contact_times[host_id, session] = now

    def take_accepted(self) -> list[tuple[str, int, int]]:
        """(host, session, fence) of every agent that has accepted more since the last call."""
        changed = [
            connection
            for connection in self._by_host.values()
            if connection.accepted > connection.accepted_recorded
        ]
        for connection in changed:
            connection.accepted_recorded = connection.accepted
        return [
            (connection.host_id, connection.session, connection.accepted) for connection in changed
        ]

    def take_contact_times(self) -> list[tuple[str, int, Millis]]:
        """(host, session, time) of every agent that was heard since the last call."""
        times, self._contact_times = self._contact_times, {}
        for connection in self._by_host.values():
            if connection.is_heard:
                connection.is_heard = False
                times[connection.host_id, connection.session] = connection.seen_at
        return [(host_id, session, at) for (host_id, session), at in times.items()]
