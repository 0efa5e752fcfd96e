"""Calls that may hang, on threads that the program does not wait for at its end.

Threads of an executor are few, shared and joined at exit: a `stat` on an unreachable network disk
would block them one by one, and keep the program from ending.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

R = TypeVar("R")


async def run_detached(call: Callable[..., R], *args: object) -> R:
    answer: Future[R] = Future()
    # From now on the call cannot be cancelled; the caller can only stop waiting.
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(call(*args))
        except StopIteration as fault:
            # asyncio's futures do not accept StopIteration.
            answer.set_exception(RuntimeError(repr(fault)))
        except BaseException as fault:
            answer.set_exception(fault)

    threading.Thread(target=run, name=f"detached {call.__name__}", daemon=True).start()
    return await asyncio.wrap_future(answer)


# The name before this version. A process that checks monitors loads `checks/kinds/file.py` late,
# perhaps after an upgrade, when it still has the earlier version of this module. Delete it with the
# next release.
aside = run_detached
