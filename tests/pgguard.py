"""One PostgreSQL server for all processes of a test session, held by a guard process.

Whichever test process needs it first starts the guard; the guard stops the server when it is
told to, or when the session's main process is gone, also after a SIGKILL.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pgserver


@contextmanager
def only_one(folder: Path, name: str) -> Iterator[None]:
    """Among the processes of a session, one at a time."""
    with (folder / name).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def shared(folder: Path) -> str:
    """The URL of the server of the session that has this folder."""
    note = folder / "postgres"
    with only_one(folder, "starting"):
        if not note.exists():
            _start_guard(note)
    return note.read_text().split()[0]


def _start_guard(note: Path) -> None:
    guard = subprocess.Popen(
        [sys.executable, __file__, str(note)],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not note.exists():
        if guard.poll() is not None:
            raise RuntimeError("PostgreSQL did not start; the reason stands above.")
        time.sleep(0.02)
    # It is ours to start but not ours to wait for; `end` and the guard itself see to its end.
    guard.returncode = 0


def end(folder: Path) -> None:
    """Stop the session's server, if it was ever started, and wait until it is gone."""
    note = folder / "postgres"
    if note.exists():
        os.kill(int(note.read_text().split()[1]), signal.SIGTERM)
        with only_one(folder, "guard"):
            pass


def main() -> None:
    note = Path(sys.argv[1])
    # The process that this server must not outlive.
    owner = (note.parent / "owner").read_text()
    signal.signal(signal.SIGTERM, pgserver.leave)
    with only_one(note.parent, "guard"):
        server = pgserver.start(durable=False)
        try:
            # Whole or not at all: others wait for this file and read it at once.
            draft = note.with_suffix(".draft")
            draft.write_text(f"{server.url} {os.getpid()}")
            draft.rename(note)
            while Path(f"/proc/{owner}").exists():
                time.sleep(0.5)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
