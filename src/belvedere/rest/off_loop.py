"""Parse large bodies in a thread, so that other requests are not delayed."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Bodies up to this size are read on the event loop: a thread would cost more. The worst of them
# (objects with short keys, escaped forms) takes the time of about ten plain requests.
MAX_ON_LOOP = 64 * 1024
# One thread: the parser holds the interpreter lock, so more would only use more memory.
_thread = ThreadPoolExecutor(1, "bodies")


async def read(size: int, work: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """The result of `work` on a body of this size."""
    if size <= MAX_ON_LOOP:
        return work(*args, **options)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_thread, lambda: work(*args, **options))
