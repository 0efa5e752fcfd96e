"""A time limit for reads on SQLite, which has none of its own.

SQLite calls a function after every INSTRUCTIONS instructions of its virtual machine; True ends the
statement. The cost of these calls is too small to measure.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import apsw

from belvedere.base.errors import StatementTimeout, Unavailable

# About a millisecond of a scan.
INSTRUCTIONS = 50_000
# One operation that only reads. PostgreSQL limits each of its statements instead.
MAX_READ_S = 20.0


def read_timeout() -> StatementTimeout:
    return StatementTimeout(
        f"The database needed more than {MAX_READ_S:.0f} s; request less at once."
    )


@contextmanager
def limit_time(
    connection: apsw.Connection, limit_s: float, error: Callable[[], Unavailable] = read_timeout
) -> Iterator[apsw.Connection]:
    """Statements of this connection end with this error once the time has passed.

    It is one time for all of them: an operation with two slow statements gets no second limit, and
    a new one begins with the next operation on the connection.
    """
    deadline = monotonic() + limit_s

    def is_over() -> bool:
        return monotonic() > deadline

    connection.set_progress_handler(is_over, INSTRUCTIONS)
    try:
        yield connection
    except apsw.InterruptError as fault:
        raise error() from fault
    finally:
        connection.set_progress_handler(None)
