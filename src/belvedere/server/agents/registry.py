"""The agents that hang on this server, by host; and the claim that ends every transaction."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.db.signals import Topic
from belvedere.jobs.lifecycle import claim, create
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.jobs.lifecycle.create import Created, NewJob
from belvedere.jobs.lifecycle.order import order_of
from belvedere.jobs.taking import Ready, Taken
from belvedere.protocol import Order

if TYPE_CHECKING:
    from belvedere.server.agents.connection import Link


log = logging.getLogger("belvedere.agents")
# Orders that are not durable yet, and whose they are.
Given = list[tuple["Link", list[Order]]]
# Whose orders, claimed when, and the first of their fences.
Promise = tuple["Link", Millis, int]
DOUBT: Millis = 5 * SECOND


class AgentRegistry:
    """At most one link per host; the newest wins."""

    def __init__(self, base_url: str, keys: Keyring) -> None:
        # What scripts are told; main sets it anew once the port is known (--port 0).
        self.base_url = base_url
        self._keys = keys
        self._by_host: dict[str, Link] = {}
        self._seen: dict[tuple[str, int], Millis] = {}
        # Orders that wait for the end of their transaction.
        self._promises: set[Promise] = set()

    def __len__(self) -> int:
        return len(self._by_host)

    def add(self, link: "Link") -> None:
        older = self._by_host.get(link.host_id)
        self._by_host[link.host_id] = link
        if older is not None:
            older.close(4409, "another connection of this host took over")

    def remove(self, link: "Link") -> bool:
        if self._by_host.get(link.host_id) is link:
            del self._by_host[link.host_id]
            return True
        return False

    def of(self, host_id: str) -> "Link | None":
        return self._by_host.get(host_id)

    def all(self) -> list["Link"]:
        return list(self._by_host.values())

    def claim_for_signalled_hosts(self, tx: Tx) -> None:
        """For every host rung in this transaction: claim in it, push once it is durable.

        One ordinary claim per host at the end, never one per job: the queue stays in order and
        the answer to `create` stays what create returned.
        """
        # In one order everywhere: two servers that hold several hosts must not wait in a ring.
        for host_id in sorted([host_id for topic, host_id in tx.signals if topic is Topic.HOST]):
            link = self._by_host.get(host_id)
            if link is not None and link.takes_work:
                self._claim(tx, link)

    def _claim(self, tx: Tx, link: "Link") -> None:
        claimed = claim.claim(tx, link.host_id, link.session)
        if claimed:
            self._promise(tx, link, self._orders(link, claimed))

    def create(self, tx: Tx, wanted: list[NewJob]) -> Sequence[Created | Exception]:
        """Make jobs; those that an agent here can run at once are its own from the first write."""
        given: Given = []
        answers = create.create(tx, wanted, partial(self._take, given))
        for link, orders in given:
            self._promise(tx, link, orders)
        return answers

    def _take(self, given: Given, tx: Tx, ready: Sequence[Ready]) -> Taken:
        taken = Taken()
        for host_id in sorted({job.host_id or "" for job, _ in ready}):
            link = self._by_host.get(host_id)
            if link is not None and link.takes_work:
                mine = [(job, values) for job, values in ready if job.host_id == host_id]
                taken.add(self._take_for(link, given, tx, mine))
        return taken

    def _take_for(self, link: "Link", given: Given, tx: Tx, ready: Sequence[Ready]) -> Taken:
        claimed, taken = claim.claim_new(tx, link.host_id, link.session, ready)
        try:
            orders = self._orders(link, claimed)
        except Exception:
            log.exception("an order could not be made; its job waits for the next claim")
            return Taken()
        if orders:
            given.append((link, orders))
        return taken

    def _orders(self, link: "Link", claimed: Sequence[Claimed]) -> list[Order]:
        return [order_of(item, link.session, self.base_url, self._keys) for item in claimed]

    def _promise(self, tx: Tx, link: "Link", orders: list[Order]) -> None:
        promise = (link, tx.now, orders[0].fence)
        self._promises.add(promise)
        around_commit(tx, "claim")
        tx.after_commit(lambda: self._keep(promise, orders))

    def _keep(self, promise: Promise, orders: list[Order]) -> None:
        self._promises.discard(promise)
        promise[0].give(orders)

    def in_doubt(self, now: Millis) -> list["Link"]:
        """Links whose orders may or may not be durable, because the answer to the commit was lost:
        they were never sent, but their jobs may count as assigned."""
        old = [promise for promise in list(self._promises) if abs(now - promise[1]) > DOUBT]
        self._promises.difference_update(old)
        return [link for link, _, _ in old]

    def note_seen(self, link: "Link", now: Millis) -> None:
        self.note(link.host_id, link.session, now)

    def note(self, host_id: str, session: int, now: Millis) -> None:
        """The host's agent spoke, over whatever connection."""
        self._seen[host_id, session] = now

    def take_accepted(self) -> list[tuple[str, int, int]]:
        """(host, session, fence) of every agent that has accepted more since the last call."""
        fresh = [link for link in self._by_host.values() if link.accepted > link.accepted_noted]
        for link in fresh:
            link.accepted_noted = link.accepted
        return [(link.host_id, link.session, link.accepted) for link in fresh]

    def take_seen(self) -> list[tuple[str, int, Millis]]:
        seen, self._seen = self._seen, {}
        return [(host_id, session, at) for (host_id, session), at in seen.items()]
