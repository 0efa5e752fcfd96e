"""Reads the machine's processes independently of the keeper's own code."""

import os
from pathlib import Path


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    """A zombie is not."""
    fields = read(pid, "stat").rsplit(b")", 1)
    return len(fields) == 2 and fields[1].split()[0] != b"Z"


def descendants(root: int) -> list[int]:
    """Every living process below this one, by the parents that the kernel names."""
    parents = {}
    for pid in pids():
        fields = read(pid, "stat").rsplit(b")", 1)
        if len(fields) == 2:
            parents[pid] = int(fields[1].split()[1])
    items, queue = [], [root]
    while queue:
        above = queue.pop()
        children = [pid for pid, parent in parents.items() if parent == above]
        queue += children
        items += [pid for pid in children if is_alive(pid)]
    return items


def with_cookie(state: str) -> list[int]:
    """Processes with a cookie of the agent in this state folder."""
    place = os.stat(state)
    cookie = f"BELVEDERE_COOKIE={place.st_dev:x}-{place.st_ino:x}.".encode()
    return [pid for pid in pids() if cookie in read(pid, "environ")]


def command_lines() -> list[tuple[int, str]]:
    return [(pid, read(pid, "cmdline").decode(errors="replace")) for pid in pids()]
