"""Secrets that come by environment variables, without leaving them where others can read them.

/proc/<pid>/environ shows the variables that a program was started with for as long as it runs,
whatever the program does to them later. So a program that finds secrets among them starts itself
again without them, under the same process id, and gets them from a pipe.
"""

import json
import os
import stat
import sys
from collections.abc import Iterable

# Names the descriptor of the pipe, between the two starts.
VARIABLE = "BELVEDERE_PRIVATE_FD"
# What a pipe takes without a reader, on every system.
MAX_BYTES = 16 * 1024


def hide(names: Iterable[str]) -> None:
    """After this, os.environ has these variables and the process's initial environment has not.
    Does not return where they are still in it: the program starts again."""
    fd = os.environ.pop(VARIABLE, "")
    if fd.isdigit():
        os.environ.update(_received(int(fd)))
        return
    secrets = {name: os.environ[name] for name in names if os.environ.get(name)}
    data = json.dumps(secrets).encode()
    if secrets and sys.executable and len(data) <= MAX_BYTES:
        _start_again(secrets, data)


def forget(names: Iterable[str]) -> None:
    """They were read: no process that is started from now on gets them."""
    for name in names:
        os.environ.pop(name, None)


def _received(fd: int) -> dict[str, str]:
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            return {}
        with open(fd, "rb") as pipe:
            received: dict[str, str] = json.loads(pipe.read(MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return received


def _start_again(secrets: dict[str, str], data: bytes) -> None:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    os.set_inheritable(reader, True)
    rest = {name: value for name, value in os.environ.items() if name not in secrets}
    words = [sys.executable, *sys.orig_argv[1:]]
    try:
        os.execve(sys.executable, words, {**rest, VARIABLE: str(reader)})
    except OSError:
        # Then they stay where they are; the program works all the same.
        os.close(reader)
