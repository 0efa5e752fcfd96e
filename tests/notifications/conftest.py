"""A channel and a rule of acme, for tests of the outbox."""

from dataclasses import dataclass
from typing import Any

import pytest

from belvedere.access import Keyring
from belvedere.base.clock import SECOND
from belvedere.db import Database, Tx
from belvedere.egress.lanes import LaneKind, LaneUsage
from belvedere.egress.messages import EgressResult
from belvedere.notifications import routing, service, store
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import messages, outbox
from belvedere.notifications.delivery.messages import Message
from belvedere.notifications.model import AddressedNotice, Notice, NoticeSeverity
from people import Actors


class UnlimitedLane(LaneUsage):
    """As many as the test requests, all of one organization if necessary."""

    most = 10

    @property
    def free(self) -> int:
        return self.most - self.sending.total()

    @property
    def share(self) -> int:
        return self.most

    def has_room(self, customer_id: str) -> bool:
        return self.free > 0

    def copy(self) -> "UnlimitedLane":
        room = UnlimitedLane(self.kind)
        room.most = self.most
        return room


def claim(db: Database, most: int) -> list[Message]:
    room = UnlimitedLane(LaneKind.CHANNEL)
    room.most = most
    return db.write_blocking(outbox.claim_fairly, [room])[0]


@dataclass
class NotificationSteps:
    """Creates channels and rules, and appends events."""

    db: Database
    keys: Keyring
    actors: Actors

    def channel(self, name: str = "ops") -> str:
        body = ChannelBody(name=name, url="https://example.com/hook")
        checked = EgressResult(service="Webhook", scheme="https")
        channel = self.db.write_blocking(
            service.create_channel, self.keys, self.actors.ada, body, checked
        )
        return channel.id

    def rule(self, *channels: str, **more: Any) -> str:
        body = RuleBody(name="all", channels=list(channels), **{"group": 0, **more})
        return self.db.write_blocking(service.create_rule, self.actors.ada, body).id

    def publish(self, *titles: str, severity: NoticeSeverity = NoticeSeverity.HIGH) -> None:
        self.db.write_blocking(self._publish, titles, severity)

    def _publish(self, tx: Tx, titles: tuple[str, ...], severity: NoticeSeverity) -> None:
        acme = self.actors.acme.id
        notices = [
            Notice("monitor.failure", "monitor", "a" * 24, title, tx.now, severity)
            for title in titles
        ]
        addressed_notices = [AddressedNotice(acme, notice, is_alert=True) for notice in notices]
        routing.route(tx, addressed_notices, store.active_rules(tx, [acme]))

    def messages(self) -> list[Message]:
        """All, oldest first."""
        ids = self.db.write_blocking(lambda tx: tx.rows("select id from messages order by id"))
        acme = self.actors.acme.id
        return [self.db.write_blocking(messages.find, acme, id_) for (id_,) in ids]

    def claim(self, most: int = 10) -> list[Message]:
        return claim(self.db, most)

    def settle(self, message: Message, fault: str = "", for_good: bool = False) -> Message | None:
        return self.db.write_blocking(outbox.complete, message, EgressResult(fault, for_good), 0.5)


@pytest.fixture
def steps(db: Database, keys: Keyring, actors: Actors) -> NotificationSteps:
    return NotificationSteps(db, keys, actors)


LEASE_S = outbox.LEASE_MS / SECOND
