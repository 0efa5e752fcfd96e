"""A time limit for reads on SQLite, which has none of its own.

SQLite calls a function after every INSTRUCTIONS instructions of its virtual machine; True ends the
statement. The cost of these calls is too small to measure.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import apsw

from belvedere.db.search_lane import search_timeout

# About a millisecond of a scan.
INSTRUCTIONS = 50_000


@contextmanager
def limit_time(
    connection: apsw.Connection,
    limit_s: float,
) -> Iterator[None]:
    """Statements of this connection end with `search_timeout` once the time has passed.

    It is one time for all of them: an operation with two slow statements gets no second limit, and
    a new one begins with the next operation on the connection.
    """
    deadline = monotonic() + limit_s

    def is_over() -> bool:
        return monotonic() > deadline

    connection.set_progress_handler(is_over, INSTRUCTIONS)
    try:
        yield
    except apsw.InterruptError as fault:
        raise search_timeout() from fault
    finally:
        connection.set_progress_handler(None)
