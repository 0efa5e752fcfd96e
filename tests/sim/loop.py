"""An asyncio event loop on virtual time; every simulated process that runs asyncio has its own."""

import asyncio
import logging
from collections.abc import Callable
from contextvars import Context
from typing import Any

from sim.world import SECOND, Process, World


class NumberedTask(asyncio.Task[Any]):
    """Hashed by its number: sets of tasks have the same order in every run."""

    number: int

    def __new__(cls, *_: Any, loop: "VirtualLoop", **__: Any) -> "NumberedTask":
        task = super().__new__(cls)
        task.number = next(loop.world.numbers)
        return task

    def __hash__(self) -> int:
        return self.number


class VirtualLoop(asyncio.AbstractEventLoop):
    """`rate` is how fast this machine's clock runs: 0.95 loses three seconds in a minute."""

    def __init__(self, world: World, process: Process, rate: float = 1.0) -> None:
        self.world = world
        self.process = process
        self.rate = rate

    def time(self) -> float:
        return self.world.now * self.rate / SECOND

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self.world.push(self.world.now, self.process, handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        # Rounded up, so that a timer never fires before its own clock says so.
        at = max(self.world.now, int(when * SECOND / self.rate) + 1)
        self.world.push(at, self.process, handle)
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: object = None, context: Any = None) -> Any:
        task = NumberedTask(coro, loop=self, name=name, context=context)
        self.world.tasks.append(task)
        return task

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        if fault is not None and "never retrieved" not in context["message"]:
            self.world.accuse(f"{self.process.name} stumbled: {fault!r}")


class DiscardTask(BaseException):
    """Raised in tasks that never ended."""


def discard_tasks(world: World) -> None:
    """End tasks that still wait, so that none of them runs when memory is collected."""
    logging.disable(logging.CRITICAL)
    for task in world.tasks:
        if not task.done():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            _end(task.get_coro())
    world.tasks.clear()
    logging.disable(logging.NOTSET)


def _end(coro: Any) -> None:
    # A `finally` may wait once more, and gets the exception again.
    for _ in range(10):
        try:
            coro.throw(DiscardTask())
        except BaseException:
            return
