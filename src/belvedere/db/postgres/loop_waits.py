"""Runs synchronous operations on the event loop, which continues while one waits for PostgreSQL.

An operation runs in a greenlet. Where it waits for the socket of its connection, it switches to
the loop, which switches back when the socket is readable. A thread for each operation would cost
two wake-ups per wait, and would compete with the loop for the interpreter lock.

The same operations also run on threads and without a loop. There they block.
"""

import asyncio
import contextlib
import os
import select
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from greenlet import getcurrent, greenlet

R = TypeVar("R")
Completion = Callable[[], None]


def on_loop() -> bool:
    """Whether the caller can switch to the loop. The first greenlet of a thread has no parent."""
    return getcurrent().parent is not None


def wait_for(work: Future[R], limit_s: float) -> R:
    """The result of work on a thread, which would block the loop; TimeoutError after the limit."""
    if not on_loop():
        return work.result(limit_s)
    current, loop = getcurrent(), asyncio.get_running_loop()
    is_waiting = True

    def resume() -> None:
        nonlocal is_waiting
        if is_waiting:
            is_waiting = False
            _resume(current)

    timer = loop.call_later(limit_s, resume)
    work.add_done_callback(lambda _: _call_soon(loop, resume))
    _switch_to_loop()
    timer.cancel()
    return work.result(0)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    # The loop may have ended since, and nothing waits there any more.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


def _switch_to_loop() -> None:
    parent = getcurrent().parent
    assert parent is not None
    parent.switch()


def _resume(operation: greenlet) -> None:
    """Continue an operation. When it has ended, what it returned is called on the loop itself."""
    if completion := operation.switch():
        completion()


class LoopRunner:
    """Runs operations on the running loop, at most `limit` at a time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = 0
        self._queue: deque[Callable[[], Completion]] = deque()
        self._idle: asyncio.Event | None = None

    def run(self, work: Callable[[], R], publish: Callable[[R], None] | None) -> asyncio.Future[R]:
        """The result of `work`. It is published even if nobody waits for it any more."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()

        def run() -> Completion:
            try:
                return partial(end, work())
            except BaseException as fault:
                return partial(fail, fault)

        def end(result: R) -> None:
            if publish is not None:
                publish(result)
            if not future.done():
                future.set_result(result)

        def fail(fault: BaseException) -> None:
            if not future.done():
                future.set_exception(fault)

        self.start(run)
        return future

    def start(self, work: Callable[[], Completion]) -> None:
        """Run `work`, which must not raise, then the function that it returns."""
        if self._loop is not (loop := asyncio.get_running_loop()):
            # Whatever waited on a loop that has ended will never continue.
            self._loop, self._running = loop, 0
            self._queue.clear()
        self._queue.append(work)
        self._start_next()

    def _start_next(self) -> None:
        if self._queue and self._running < self._limit:
            self._running += 1
            _resume(greenlet(self._run))

    def _run(self) -> Completion:
        completion = self._queue.popleft()()

        def end() -> None:
            self._running -= 1
            if self._queue:
                asyncio.get_running_loop().call_soon(self._start_next)
            elif self._idle is not None and not self._running:
                self._idle.set()
            completion()

        return end

    async def wait_until_idle(self) -> None:
        while self._running and self._loop is asyncio.get_running_loop():
            self._idle = asyncio.Event()
            await self._idle.wait()


class SocketWait:
    """Waits of one connection on the loop. Its socket stays registered between two waits, which
    saves two system calls each, until it becomes readable while nothing waits."""

    __slots__ = ("_descriptor", "_is_registered", "_loss", "_waiter", "loop")

    def __init__(self, descriptor: int) -> None:
        self.loop = asyncio.get_running_loop()
        # The driver closes its own descriptor at any time; the loop must not watch a closed one.
        self._descriptor = os.dup(descriptor)
        self._is_registered = False
        self._waiter: greenlet | None = None
        self._loss = select.poll()
        # Errors and the end of the connection are always reported.
        self._loss.register(self._descriptor, 0)

    def until_readable(self) -> None:
        """Returns at once if the connection is lost: uvloop reports a socket with an error once and
        never again, although the rest of the data and the error itself are still to be read."""
        if not self._loss.poll(0):
            self._wait()

    def _wait(self) -> None:
        self._waiter = getcurrent()
        if not self._is_registered:
            self._is_registered = True
            self.loop.add_reader(self._descriptor, self._continue)
        _switch_to_loop()

    def until_sendable(self) -> None:
        """Or readable: both sides would block if neither of them read."""
        if self._loss.poll(0):
            return
        self.loop.add_writer(self._descriptor, self._continue)
        try:
            self._wait()
        finally:
            self.loop.remove_writer(self._descriptor)

    def _continue(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            _resume(waiter)
        else:
            # The server has closed the connection. The next statement reports it.
            self._unregister()

    def _unregister(self) -> None:
        if self._is_registered and not self.loop.is_closed():
            self.loop.remove_reader(self._descriptor)
        self._is_registered = False

    def close(self) -> None:
        self._unregister()
        os.close(self._descriptor)
