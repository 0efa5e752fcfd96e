"""Secrets in environment variables, without leaving them where other processes can read them.

/proc/<pid>/environ shows the variables that a program was started with for as long as it runs,
even if the program deletes them later. So a program that has secrets among them executes itself
again without them, under the same process id, and reads them from a pipe.
"""

import json
import os
import stat
import sys
from collections.abc import Iterable

# The descriptor of the pipe, for the second start.
VARIABLE = "BELVEDERE_PRIVATE_FD"
# A pipe buffers at least this much without a reader on every system.
MAX_BYTES = 16 * 1024


def hide(names: Iterable[str]) -> None:
    """Remove these variables from the initial environment of the process; os.environ keeps them.
    Does not return on the first start: the program executes itself again."""
    fd = os.environ.pop(VARIABLE, "")
    if fd.isdigit():
        os.environ.update(_read_pipe(int(fd)))
        return
    secrets = {name: os.environ[name] for name in names if os.environ.get(name)}
    data = json.dumps(secrets).encode()
    if secrets and sys.executable and len(data) <= MAX_BYTES:
        _restart(secrets, data)


def remove(names: Iterable[str]) -> None:
    """Delete these variables after they were read, so that no child process inherits them."""
    for name in names:
        os.environ.pop(name, None)


def _read_pipe(fd: int) -> dict[str, str]:
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            return {}
        with open(fd, "rb") as pipe:
            secrets: dict[str, str] = json.loads(pipe.read(MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return secrets


def _restart(secrets: dict[str, str], data: bytes) -> None:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    os.set_inheritable(reader, True)
    rest = {name: value for name, value in os.environ.items() if name not in secrets}
    words = [sys.executable, *sys.orig_argv[1:]]
    try:
        os.execve(sys.executable, words, {**rest, VARIABLE: str(reader)})
    except OSError:
        # The secrets stay in the initial environment; the program still works.
        os.close(reader)
