"""Signals: "something changed, look again", within a server and between servers.

A signal carries no data and may be lost. Whatever waits for one also polls.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cache
from typing import NamedTuple


class Topic(StrEnum):
    HOST = "host"
    CANCEL = "cancel"
    WATCH = "watch"
    JOB = "job"
    LOG = "log"
    EVENTS = "events"
    ACCESS = "access"


class Signal(NamedTuple):
    topic: Topic
    # A host id, job id or event kind. Empty: the topic as a whole.
    key: str = ""

    def encode(self) -> str:
        """The text of a notification. Servers of two versions may share a database."""
        return f"{self.topic.value}:{self.key}" if self.key else self.topic.value


def decode(text: str) -> Signal | None:
    """None if the topic belongs to a newer version."""
    topic, _, key = text.partition(":")
    return Signal(Topic(topic), key) if topic in _TOPICS else None


_TOPICS = frozenset(topic.value for topic in Topic)

# A signal for each job or event, of which most servers need none: others send them only while a
# server requests the topic.
ON_REQUEST = (Topic.EVENTS, Topic.JOB)
# Permissions changed: cached credentials are checked again.
ACCESS_CHANGED = Signal(Topic.ACCESS)
ANY_EVENT = Signal(Topic.EVENTS)


def host_ready(host_id: str | None) -> Signal:
    """The host may claim jobs. A job without a host gives a signal that nothing waits for."""
    return Signal(Topic.HOST, host_id or "")


def jobs_canceled(host_id: str | None) -> Signal:
    return Signal(Topic.CANCEL, host_id or "")


def checks_changed(host_id: str) -> Signal:
    return Signal(Topic.WATCH, host_id)


def job_finished(job_id: str) -> Signal:
    return Signal(Topic.JOB, job_id)


def log_written(job_id: str) -> Signal:
    return Signal(Topic.LOG, job_id)


@cache
def event_recorded(kind: str) -> Signal:
    return Signal(Topic.EVENTS, kind)


Listener = Callable[[Signal], None]
Unsubscribe = Callable[[], None]


class SignalBus:
    def __init__(self) -> None:
        self._listeners: dict[tuple[Topic, str], set[Listener]] = {}
        # The number of requests by topic, and what to call after the first one.
        self._requests: Counter[Topic] = Counter()
        self.on_request: Callable[[], None] | None = None

    def subscribe(self, signal: Signal, listener: Listener) -> Unsubscribe:
        """Call the listener for this signal, or for all of its topic if the key is empty."""
        listeners = self._listeners.setdefault(signal, set())
        listeners.add(listener)

        def unsubscribe() -> None:
            listeners.discard(listener)
            if not listeners:
                self._listeners.pop(signal, None)

        return unsubscribe

    def request(self, topic: Topic) -> Unsubscribe:
        """From now on, other servers send their signals of a topic in `ON_REQUEST`."""
        self._requests[topic] += 1
        if self._requests[topic] == 1 and self.on_request is not None:
            self.on_request()
        return lambda: self._requests.subtract((topic,))

    def requested_topics(self) -> list[Topic]:
        """Also called in another thread."""
        return [topic for topic in ON_REQUEST if self._requests[topic]]

    def emit(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            for subscription in (signal, (signal.topic, "")) if signal.key else (signal,):
                # A copy: a listener may unsubscribe, or subscribe others.
                for listener in tuple(self._listeners.get(subscription, ())):
                    listener(signal)

    async def wait(self, signal: Signal, timeout_s: float) -> bool:
        """Whether the signal came in time."""
        arrived = asyncio.Event()
        unsubscribe = self.subscribe(signal, lambda _: arrived.set())
        try:
            async with asyncio.timeout(timeout_s):
                await arrived.wait()
            return True
        except TimeoutError:
            return False
        finally:
            unsubscribe()
