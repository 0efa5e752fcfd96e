"""The signal bus: which listeners are called, and that they may unsubscribe meanwhile."""

import pytest

from belvedere.db.signals import ACCESS_CHANGED, Signal, SignalBus, Topic, decode, job_finished

ALL_JOBS = Signal(Topic.JOB)


def test_a_listener_gets_one_key_or_all_of_a_topic() -> None:
    bus, of_topic, of_key = SignalBus(), list[Signal](), list[Signal]()
    bus.subscribe(ALL_JOBS, of_topic.append)
    bus.subscribe(job_finished("1"), of_key.append)
    bus.emit([job_finished("1"), job_finished("2"), ACCESS_CHANGED, Signal(Topic.LOG, "1")])
    assert (of_topic, of_key) == ([job_finished("1"), job_finished("2")], [job_finished("1")])


def test_a_signal_without_a_key_is_delivered_once() -> None:
    bus, signals = SignalBus(), list[Signal]()
    bus.subscribe(ACCESS_CHANGED, signals.append)
    bus.emit([ACCESS_CHANGED])
    assert signals == [ACCESS_CHANGED]


def test_nothing_is_delivered_after_unsubscribing() -> None:
    bus, signals = SignalBus(), list[Signal]()
    unsubscribe = bus.subscribe(job_finished("1"), signals.append)
    unsubscribe()
    unsubscribe()
    bus.emit([job_finished("1")])
    assert signals == []


@pytest.mark.parametrize(
    ("first", "second"), [(ALL_JOBS, job_finished("1")), (job_finished("1"), ALL_JOBS)]
)
def test_a_listener_may_unsubscribe_another_one(first: Signal, second: Signal) -> None:
    bus, signals = SignalBus(), list[Signal]()
    unsubscribe = bus.subscribe(second, signals.append)
    bus.subscribe(first, lambda _: unsubscribe())
    bus.emit([job_finished("1"), job_finished("1")])
    assert signals in ([], [job_finished("1")])


def test_the_text_of_a_signal_is_that_of_older_servers() -> None:
    assert [signal.encode() for signal in (job_finished("a"), ACCESS_CHANGED)] == [
        "job:a",
        "access",
    ]
    assert [decode(text) for text in ("job:a:b", "access")] == [job_finished("a:b"), ACCESS_CHANGED]


def test_a_topic_of_a_newer_server_is_ignored() -> None:
    assert decode("weather:sunny") is None
