"""Blocks that another thread reads ahead: decompressing does not wait for the database, nor the
other way round."""

import threading
from collections.abc import Iterator
from queue import Queue

# Blocks in memory.
AHEAD = 8


def read_ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks; an error of theirs is raised at its place."""
    queue: Queue[bytes | BaseException | None] = Queue(AHEAD)
    is_over = threading.Event()

    def read() -> None:
        end: BaseException | None = None
        try:
            for block in blocks:
                queue.put(block)
                if is_over.is_set():
                    return
        except BaseException as fault:  # noqa: BLE001 - it is raised by the other thread
            end = fault
        queue.put(end)

    thread = threading.Thread(target=read, name="backup reader", daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()
        _drain(queue, thread)


def _drain(queue: "Queue[bytes | BaseException | None]", thread: threading.Thread) -> None:
    """A reader that waits for a free place ends."""
    while thread.is_alive():
        while not queue.empty():
            queue.get()
        thread.join(0.01)
