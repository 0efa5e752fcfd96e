"""The outbox: each message is one server's at a time, and nobody's for ever."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from belvedere.access.customers import service as customers
from belvedere.base.clock import DAY, SECOND
from belvedere.db import Database
from belvedere.notifications import service
from belvedere.notifications.bodies import ChannelBody
from belvedere.notifications.delivery import messages
from belvedere.notifications.model import MAX_NOTICES, RETRY_DELAYS
from manual_clock import ManualClock
from notifications.conftest import LEASE_S, Desk, claim


def test_it_works(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel())
    desk.tell("x fails")
    (message,) = desk.claim()
    assert (message.attempts, message.state) == (1, "waiting")
    # It is somebody's now.
    assert desk.claim() == []
    assert desk.settle(message) is not None
    (sent,) = desk.messages()
    assert (sent.state, sent.sent_at, sent.claimed_until) == ("sent", clock(), None)
    clock.move(DAY / SECOND)
    assert desk.claim() == []


def test_a_server_that_dies_leaves_it_to_the_next(desk: Desk, clock: ManualClock) -> None:
    """At least once, and under the same id; the dead one's report no longer counts."""
    desk.rule(desk.channel())
    desk.tell("x fails")
    (before,) = desk.claim()
    clock.move(LEASE_S - 1)
    assert desk.claim() == []
    clock.move(1)
    (after,) = desk.claim()
    assert (after.id, after.attempts) == (before.id, 2)
    assert desk.settle(before, "too late") is None
    assert desk.settle(after) is not None
    assert [message.state for message in desk.messages()] == ["sent"]


def test_tries_grow_further_apart(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel())
    desk.tell("x fails")
    for pause in RETRY_DELAYS:
        (message,) = desk.claim()
        desk.settle(message, "no")
        clock.move((pause - 1) / SECOND)
        assert desk.claim() == []
        clock.move(1 / SECOND)
    (message,) = desk.claim()
    dead = desk.settle(message, "no")
    assert dead is not None and dead.state == "dead"
    clock.move(DAY / SECOND)
    assert desk.claim() == []


def test_more_attempts_can_be_requested(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel())
    desk.tell("x fails")
    desk.settle(desk.claim()[0], "no", for_good=True)
    (dead,) = desk.messages()
    desk.db.write_blocking(service.retry, desk.actors.ada, dead.id)
    (again,) = desk.claim()
    assert again.attempts == 2
    waiting = desk.settle(again, "no")
    # Counted from where it was asked for.
    assert waiting is not None and waiting.due_at == clock() + RETRY_DELAYS[0]


def test_one_receiver_gets_one_message_at_a_time(desk: Desk) -> None:
    """In the order in which things happened; others are not held up."""
    slow, quick = desk.channel("slow"), desk.channel("quick")
    desk.rule(slow, quick)
    desk.tell("first", "second")
    taken = desk.claim()
    assert {item.channel_id for item in taken} == {slow, quick}
    assert {item.notice_list[0].title for item in taken} == {"first"}
    assert desk.claim() == []
    desk.settle(next(item for item in taken if item.channel_id == quick))
    (then,) = desk.claim()
    assert (then.channel_id, then.notice_list[0].title) == (quick, "second")


def test_a_disabled_channel_or_organization_waits(desk: Desk) -> None:
    channel = desk.channel()
    desk.rule(channel)
    desk.tell("x fails")

    def enable(is_enabled: bool) -> None:
        change = (desk.keys, desk.actors.ada, channel, ChannelBody(enable=is_enabled), None, None)
        desk.db.write_blocking(service.change_channel, *change)

    enable(False)
    assert desk.claim() == []
    enable(True)
    desk.db.write_blocking(customers.disable, desk.actors.olga, "acme")
    assert desk.claim() == []
    desk.db.write_blocking(customers.enable, "acme")
    assert len(desk.claim()) == 1


def test_a_window_gathers_and_ends(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel(), group=10)
    desk.tell("a")
    clock.move(9)
    desk.tell("b", "c")
    assert desk.claim() == []
    clock.move(1)
    # The window is over, whether or not somebody has taken the message yet.
    desk.tell("d")
    (message,) = desk.claim()
    assert [item.title for item in message.notice_list] == ["a", "b", "c"]
    assert len(desk.messages()) == 2


def test_a_flood_is_one_message_of_bounded_size(desk: Desk) -> None:
    desk.rule(desk.channel(), group=10)
    desk.tell(*(f"event {n}" for n in range(MAX_NOTICES + 30)))
    (message,) = desk.messages()
    assert (len(message.notice_list), message.more) == (MAX_NOTICES, 30)


def test_a_message_that_is_on_its_way_gathers_no_more(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel(), group=10)
    desk.tell("a")
    clock.move(10)
    (message,) = desk.claim()
    desk.settle(message, "no")
    # It waits again, for its next try.
    desk.tell("b")
    assert [len(item.notice_list) for item in desk.messages()] == [1, 1]


def test_what_is_over_is_forgotten_after_a_month(desk: Desk, clock: ManualClock) -> None:
    desk.rule(desk.channel("one"), desk.channel("two"))
    desk.tell("x fails")
    desk.settle(desk.claim()[0])
    clock.move(30 * DAY / SECOND + 1)
    desk.db.write_blocking(messages.purge_old)
    assert [message.state for message in desk.messages()] == ["waiting"]


def test_a_deleted_channel_takes_its_messages_along(desk: Desk) -> None:
    channel = desk.channel()
    rule = desk.rule(channel)
    desk.tell("x fails")
    desk.db.write_blocking(service.delete_rule, desk.actors.ada, rule)
    assert len(desk.messages()) == 1
    desk.db.write_blocking(service.delete_channel, desk.actors.ada, channel)
    assert desk.messages() == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_of_several_servers_one_sends(desk: Desk, db: Database) -> None:
    """SQLite has one writer; here eight claim at once."""
    desk.rule(*(desk.channel(f"c{n}") for n in range(20)))
    desk.tell("x fails")
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: claim(db, 3), range(40)))
    claimed = [item.id for several in taken for item in several]
    assert sorted(claimed) == [item.id for item in desk.messages()]
