"""Unix socket addresses have at most 107 bytes; this supports folders with longer paths."""

from __future__ import annotations

import os

MAX_PATH_BYTES = 100


def short_path(folder: str, name: str) -> tuple[str, int]:
    """A path of the socket within that limit, and the descriptor to close after use (or -1)."""
    path = f"{folder}/{name}"
    if len(os.fsencode(path)) < MAX_PATH_BYTES or not os.path.isdir("/proc/self/fd"):
        return path, -1
    fd = os.open(folder, os.O_RDONLY)
    return f"/proc/self/fd/{fd}/{name}", fd
