"""The doorbell: wakes whoever waits for a topic. It carries no data and may be missed."""

import asyncio
from collections.abc import Callable, Iterable


class SignalBus:
    """Topics are words such as `events`, `host:<id>`, `cancel:<id>`, `access`."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Callable[[str], None]]] = {}

    def subscribe(self, topic: str, call: Callable[[str], None]) -> Callable[[], None]:
        """Call on every ring of the topic (the word before the colon counts too); returns undo."""
        listeners = self._listeners.setdefault(topic, set())
        listeners.add(call)

        def undo() -> None:
            listeners.discard(call)
            if not listeners:
                self._listeners.pop(topic, None)

        return undo

    def emit(self, topics: Iterable[str]) -> None:
        for topic in topics:
            for key in {topic, topic.partition(":")[0]}:
                if key in self._listeners:
                    # Whoever is called may stop to listen, or let others listen.
                    for call in tuple(self._listeners[key]):
                        call(topic)

    async def wait(self, topic: str, timeout_s: float) -> bool:
        """Until the topic rings or the time is up; whether it rang."""
        rang = asyncio.Event()
        undo = self.subscribe(topic, lambda _: rang.set())
        try:
            async with asyncio.timeout(timeout_s):
                await rang.wait()
            return True
        except TimeoutError:
            return False
        finally:
            undo()
