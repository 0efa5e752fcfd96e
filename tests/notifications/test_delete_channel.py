"""What deleting a channel costs: it must not depend on the inboxes of other organizations."""

from typing import Any, cast

import pytest

from belvedere.base.clock import MINUTE
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.notifications import inbox
from notifications.conftest import NotificationSteps
from people import Actors
from statements import RecordingTx, Statement, cost


class DeletionTx(RecordingTx):
    """Records what would be deleted."""

    def execute(self, sql: str, *params: Any) -> int:
        self.statements.append((sql, params))
        return 0


def add_notifications(tx: Tx, customer_id: str, user_id: str, object_ids: list[str]) -> None:
    tx.execute_many(
        "insert into notifications (id, customer_id, user_id, kind, object, object_id, severity,"
        " title, body, created_at) values (?, ?, ?, 'message.dead', 'message', ?, '', '', '', ?)",
        [(new_id(), customer_id, user_id, object_id, tx.now) for object_id in object_ids],
    )


@pytest.fixture
def channel_id(steps: NotificationSteps, actors: Actors) -> str:
    """A channel with one message, which could not be delivered."""
    channel_id = steps.channel()
    steps.rule(channel_id)
    steps.publish("x")
    [message] = steps.messages()
    ada = actors.ada

    def fail(tx: Tx) -> None:
        tx.execute("update messages set state = 'dead'")
        add_notifications(tx, ada.customer_id, ada.user_id, [message.id, "another"])

    steps.db.write_blocking(fail)
    return channel_id


def deletion(tx: Tx, actors: Actors, channel_id: str) -> list[Statement]:
    recording = DeletionTx(tx)
    inbox.delete_for_channel(cast("Tx", recording), actors.acme.id, channel_id)
    return recording.statements


def test_reports_of_the_messages_of_a_channel_are_deleted(
    db: Database, actors: Actors, channel_id: str
) -> None:
    def delete(tx: Tx) -> list[Any]:
        # The clock of the server that wrote the message was ahead.
        tx.execute("update messages set created_at = created_at + ?", MINUTE)
        inbox.delete_for_channel(tx, actors.acme.id, channel_id)
        return tx.rows("select object_id from notifications")

    assert db.write_blocking(delete) == [("another",)]


def test_inboxes_of_other_organizations_cost_nothing(
    db: Database, actors: Actors, channel_id: str
) -> None:
    def costs(tx: Tx) -> list[int]:
        return [cost(tx, statement) for statement in deletion(tx, actors, channel_id)]

    def add_others(tx: Tx) -> None:
        eve = actors.eve
        add_notifications(tx, eve.customer_id, eve.user_id, [str(n) for n in range(3_000)])

    few = db.write_blocking(costs)
    db.write_blocking(add_others)
    many = db.write_blocking(costs)
    assert max(many) < 2 * max(few) + 50, (few, many)
