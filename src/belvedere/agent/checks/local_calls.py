"""Calls of the operating system that a check makes: files, users, processes.

They block, so each runs on a thread of its own, and never twice at the same time for one monitor:
the file system, or the directory of users, may be on an unreachable network. Then one call hangs,
not one more with every check.
"""

import asyncio
import grp
import pwd
from collections.abc import Callable
from typing import Any, TypeVar

from belvedere.agent.isolation import run_detached

R = TypeVar("R")
# The call of a monitor that is running, in the memory of its check.
RUNNING = "call"


async def run_once(memory: dict[str, Any], call: Callable[..., R], *args: object) -> R:
    """The result of the call, or of the one that an earlier check began and that still runs.

    The caller may give up at its time limit. The call continues and its result is then used by the
    next check; what it writes is complete in any case.
    """
    running: asyncio.Future[R] | None = memory.get(RUNNING)
    if running is None or running.done():
        running = memory[RUNNING] = asyncio.ensure_future(run_detached(call, *args))
        # The caller may have given up: retrieve the exception.
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(running)


def explain_file_error(fault: OSError) -> str:
    """A sentence about a file.

    `explain` in outcome.py is for connections, and describes a missing right as one to connect.
    """
    text = fault.strerror or str(fault) or type(fault).__name__
    return text if text.endswith(".") else f"{text}."


def user_name(uid: int) -> str:
    """The name of a user, or the number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
