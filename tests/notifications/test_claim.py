"""The outbox: each message belongs to one server at a time, and to none forever."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from belvedere.access.customers import service as customers
from belvedere.base.clock import DAY, SECOND
from belvedere.base.errors import Unavailable
from belvedere.db import Database
from belvedere.egress.pool import EgressPool
from belvedere.notifications import service
from belvedere.notifications.bodies import ChannelBody
from belvedere.notifications.delivery import dispatcher, messages
from belvedere.notifications.model import MAX_NOTICES, RETRY_DELAYS
from manual_clock import ManualClock
from notifications.conftest import LEASE_S, NotificationSteps, claim


def test_a_message_is_claimed_once(steps: NotificationSteps, clock: ManualClock) -> None:
    steps.rule(steps.channel())
    steps.publish("x fails")
    (message,) = steps.claim()
    assert (message.attempts, message.state) == (1, "waiting")
    # It belongs to a server now.
    assert steps.claim() == []
    assert steps.settle(message) is not None
    (sent_message,) = steps.messages()
    assert (sent_message.state, sent_message.sent_at, sent_message.claimed_until) == (
        "sent",
        clock(),
        None,
    )
    clock.move(DAY / SECOND)
    assert steps.claim() == []


def test_a_server_that_dies_leaves_it_to_the_next(
    steps: NotificationSteps, clock: ManualClock
) -> None:
    """At least once, and with the same id; the report of the crashed server no longer counts."""
    steps.rule(steps.channel())
    steps.publish("x fails")
    (before,) = steps.claim()
    clock.move(LEASE_S - 1)
    assert steps.claim() == []
    clock.move(1)
    (after,) = steps.claim()
    assert (after.id, after.attempts) == (before.id, 2)
    assert steps.settle(before, "too late") is None
    assert steps.settle(after) is not None
    assert [message.state for message in steps.messages()] == ["sent"]


def test_the_time_between_attempts_grows(steps: NotificationSteps, clock: ManualClock) -> None:
    steps.rule(steps.channel())
    steps.publish("x fails")
    for pause in RETRY_DELAYS:
        (message,) = steps.claim()
        steps.settle(message, "no")
        clock.move((pause - 1) / SECOND)
        assert steps.claim() == []
        clock.move(1 / SECOND)
    (message,) = steps.claim()
    dead = steps.settle(message, "no")
    assert dead is not None and dead.state == "dead"
    clock.move(DAY / SECOND)
    assert steps.claim() == []


def test_more_attempts_can_be_requested(steps: NotificationSteps, clock: ManualClock) -> None:
    steps.rule(steps.channel())
    steps.publish("x fails")
    steps.settle(steps.claim()[0], "no", for_good=True)
    (dead,) = steps.messages()
    steps.db.write_blocking(service.retry, steps.actors.ada, dead.id)
    (again,) = steps.claim()
    assert again.attempts == 2
    waiting = steps.settle(again, "no")
    # Counted from where it was asked for.
    assert waiting is not None and waiting.due_at == clock() + RETRY_DELAYS[0]


def test_one_receiver_gets_one_message_at_a_time(steps: NotificationSteps) -> None:
    """In the order of the events; other messages do not wait."""
    slow, quick = steps.channel("slow"), steps.channel("quick")
    steps.rule(slow, quick)
    steps.publish("first", "second")
    actual_messages = steps.claim()
    assert {item.channel_id for item in actual_messages} == {slow, quick}
    assert {item.notice_list[0].title for item in actual_messages} == {"first"}
    assert steps.claim() == []
    steps.settle(next(item for item in actual_messages if item.channel_id == quick))
    (then,) = steps.claim()
    assert (then.channel_id, then.notice_list[0].title) == (quick, "second")


def test_a_disabled_channel_or_organization_waits(steps: NotificationSteps) -> None:
    channel = steps.channel()
    steps.rule(channel)
    steps.publish("x fails")

    def enable(is_enabled: bool) -> None:
        change = (steps.keys, steps.actors.ada, channel, ChannelBody(enable=is_enabled), None, None)
        steps.db.write_blocking(service.change_channel, *change)

    enable(False)
    assert steps.claim() == []
    enable(True)
    steps.db.write_blocking(customers.disable, steps.actors.olga, "acme")
    assert steps.claim() == []
    steps.db.write_blocking(customers.enable, "acme")
    assert len(steps.claim()) == 1


def test_a_window_gathers_and_ends(steps: NotificationSteps, clock: ManualClock) -> None:
    steps.rule(steps.channel(), group=10)
    steps.publish("a")
    clock.move(9)
    steps.publish("b", "c")
    assert steps.claim() == []
    clock.move(1)
    # The period is over, whether or not a server has claimed the message.
    steps.publish("d")
    (message,) = steps.claim()
    assert [item.title for item in message.notice_list] == ["a", "b", "c"]
    assert len(steps.messages()) == 2


def test_a_flood_is_one_message_of_bounded_size(steps: NotificationSteps) -> None:
    steps.rule(steps.channel(), group=10)
    steps.publish(*(f"event {n}" for n in range(MAX_NOTICES + 30)))
    (message,) = steps.messages()
    assert (len(message.notice_list), message.more) == (MAX_NOTICES, 30)


def test_a_message_that_is_on_its_way_gathers_no_more(
    steps: NotificationSteps, clock: ManualClock
) -> None:
    steps.rule(steps.channel(), group=10)
    steps.publish("a")
    clock.move(10)
    (message,) = steps.claim()
    steps.settle(message, "no")
    # It waits for its next attempt.
    steps.publish("b")
    assert [len(item.notice_list) for item in steps.messages()] == [1, 1]


def test_finished_messages_are_deleted_after_a_month(
    steps: NotificationSteps, clock: ManualClock
) -> None:
    steps.rule(steps.channel("one"), steps.channel("two"))
    steps.publish("x fails")
    steps.settle(steps.claim()[0])
    clock.move(30 * DAY / SECOND + 1)
    steps.db.write_blocking(messages.purge_old)
    assert [message.state for message in steps.messages()] == ["waiting"]


def test_a_channel_is_deleted_with_its_messages(steps: NotificationSteps) -> None:
    channel = steps.channel()
    rule = steps.rule(channel)
    steps.publish("x fails")
    steps.db.write_blocking(service.delete_rule, steps.actors.ada, rule)
    assert len(steps.messages()) == 1
    steps.db.write_blocking(service.delete_channel, steps.actors.ada, channel)
    assert steps.messages() == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_concurrent_claims_get_different_messages(steps: NotificationSteps, db: Database) -> None:
    """SQLite has one writer; here eight claim at once."""
    steps.rule(*(steps.channel(f"c{n}") for n in range(20)))
    steps.publish("x fails")
    with ThreadPoolExecutor(8) as pool:
        actual_messages = list(pool.map(lambda _: claim(db, 3), range(40)))
    claimed = [item.id for several in actual_messages for item in several]
    assert sorted(claimed) == [item.id for item in steps.messages()]


async def test_a_fault_of_the_database_is_no_failed_message(
    steps: NotificationSteps, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is back when the outcome would be written: nobody would be notified."""
    steps.rule(steps.channel())
    steps.publish("x fails")
    (message,) = steps.claim()
    pool = EgressPool()

    def fail(*_: object) -> None:
        raise Unavailable("The database does not respond; try again shortly.")

    monkeypatch.setattr(dispatcher, "build_request", fail)
    with pytest.raises(Unavailable):
        await dispatcher.send(steps.db, steps.keys, pool, message)
    await pool.close()
    assert [message.state for message in steps.messages()] == ["waiting"]
    clock.move(LEASE_S)
    assert [message.id for message in steps.claim()] == [message.id]
