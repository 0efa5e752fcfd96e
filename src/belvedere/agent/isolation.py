"""A call that may hang, on a thread that nobody waits for at the end.

Threads of an executor are few, shared and joined when the program goes: a `stat` on a network disk
that is away would take them one by one, and keep the program from ending.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

R = TypeVar("R")


async def run_detached(call: Callable[..., R], *args: Any) -> R:
    answer: Future[R] = Future()
    # From now on nobody can call it off, only stop waiting.
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(call(*args))
        except StopIteration as fault:
            # asyncio's futures do not take it.
            answer.set_exception(RuntimeError(repr(fault)))
        except BaseException as fault:
            answer.set_exception(fault)

    threading.Thread(target=run, name=f"detached {call.__name__}", daemon=True).start()
    return await asyncio.wrap_future(answer)


# The name before this version. A process that checks monitors loads `checks/kinds/file.py` late,
# perhaps after an upgrade, when it still has the earlier version of this module. Delete it with the
# next release.
aside = run_detached
