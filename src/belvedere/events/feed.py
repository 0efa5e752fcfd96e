"""The tail of the event log, read once per server for all listeners."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from belvedere import events
from belvedere.db import Database
from belvedere.db.signals import ANY_EVENT, SignalBus, Topic
from belvedere.events import Event

log = logging.getLogger("belvedere.events")
Listener = Callable[[list[Event]], None]
POLL_S = 1.0


class EventFeed:
    """Reads the log while there are listeners; costs nothing without."""

    def __init__(self, db: Database, hub: SignalBus) -> None:
        self._db = db
        self._hub = hub
        self._listeners: set[Listener] = set()
        self._cursor: tuple[int, int] | None = None
        self._task: asyncio.Task[None] | None = None
        # How often the log restarted, with other events under the same numbers.
        self.restarts = 0

    async def listen(self, listener: Listener) -> Callable[[], None]:
        """Call the listener for every new event; returns a function that removes it."""
        if self._cursor is None or self._task is None:
            newest = await self._db.read(events.newest)
            # Another listener may have started the feed meanwhile: it must not miss an event.
            if self._cursor is None or self._task is None:
                self._cursor = newest
        self._listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._follow())
        return lambda: self._listeners.discard(listener)

    def start_over(self) -> None:
        """The database was restored: cursors may be after its end. Listeners get an empty list."""
        self.restarts += 1
        self._cursor = None
        for listener in tuple(self._listeners):
            listener([])

    async def _follow(self) -> None:
        arrived = asyncio.Event()
        unsubscribe = self._hub.subscribe(ANY_EVENT, lambda _: arrived.set())
        withdraw = self._hub.request(Topic.EVENTS)
        try:
            while self._listeners:
                with contextlib.suppress(TimeoutError):
                    # Not wait_for, which may lose a cancellation that arrives with the signal.
                    async with asyncio.timeout(POLL_S):
                        await arrived.wait()
                arrived.clear()
                await self._catch_up()
        finally:
            unsubscribe()
            withdraw()
            self._task = None

    async def _catch_up(self) -> None:
        while True:
            cursor, restarts = self._cursor, self.restarts
            try:
                if cursor is None:
                    cursor = await self._db.read(events.newest)
                rows = await self._db.read_inline(events.after, *cursor)
            except Exception:
                # The database is not available; the next pass continues at the same cursor.
                log.exception("reading the event log failed")
                return
            if restarts != self.restarts:
                continue
            self._cursor = cursor
            if not rows:
                return
            self._cursor = (rows[-1].xid, rows[-1].id)
            for listener in tuple(self._listeners):
                listener(rows)
