"""A PostgreSQL server that ends with the process that started it, also after a SIGKILL.

Run as a program, this is the guard: it starts the server, prints its URL, and stops it when its
standard input ends, which happens when the process at the other end ends in any way.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pgserver


@contextmanager
def start_guarded() -> Iterator[str]:
    """The URL of a new server for tests."""
    guard = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    with guard:
        url = guard.stdout.readline().decode().strip()
        if not url:
            raise RuntimeError("PostgreSQL did not start; the reason stands above.")
        yield url
        guard.stdin.close()


def main() -> None:
    server = pgserver.start(durable=False)
    try:
        print(server.url, flush=True)
        sys.stdin.read()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
