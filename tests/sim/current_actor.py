"""Which simulated process is running: patched functions of the product do not know it."""

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.host import Host

# The host whose keeper is executing.
acting: "Host | None" = None


def keeper_host() -> "Host":
    assert acting is not None
    return acting


def agent_host() -> "Host":
    """The host of the agent whose loop is running."""
    process: Any = asyncio.get_running_loop().process  # type: ignore[attr-defined]
    host: Host = process.host
    return host


_numbers = itertools.count(1)
# The hosts whose journal the server doubted because of a late hello, by id.
doubted_hosts: set[str] = set()


def begin() -> None:
    """A new story: ids count from the beginning."""
    global _numbers
    _numbers = itertools.count(1)
    doubted_hosts.clear()


def new_number() -> int:
    return next(_numbers)
