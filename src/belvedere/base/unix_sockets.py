"""Addresses of unix sockets, which may have at most 107 bytes, in folders with longer names."""

from __future__ import annotations

import os

LONGEST = 100


def short_path(folder: str, name: str) -> tuple[str, int]:
    """A path to the socket that fits, and the descriptor to close after its use (or -1)."""
    path = f"{folder}/{name}"
    if len(os.fsencode(path)) < LONGEST or not os.path.isdir("/proc/self/fd"):
        return path, -1
    fd = os.open(folder, os.O_RDONLY)
    return f"/proc/self/fd/{fd}/{name}", fd
