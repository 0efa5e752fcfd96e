"""Removing a directory tree that other users may be changing at the same time.

Every step is relative to an open directory and follows no link, whichever `rm` this system has.
A tree of any depth needs few descriptors: what is nested too deeply is moved up first.
"""

from __future__ import annotations

import errno
import os
import sys
from itertools import islice

from belvedere.agent.workdir.directories import open_directory, take_back

# Names that are read at a time: a directory may have millions.
BATCH = 1_000
MAX_DEPTH = 64
UNLIMITED = 1 << 62
# Systems differ in which of them is used for a link.
NOT_A_DIRECTORY = (errno.ENOTDIR, errno.ELOOP)


class TreeTooLarge(Exception):
    """More entries than the budget of the caller; some of them are already removed."""


def remove(path: str, budget: int = UNLIMITED) -> None:
    """Remove the directory at this path, whose parent only the agent can change. TreeTooLarge if it
    has more entries than the budget; OSError if something cannot be removed."""
    parent = open_directory(os.path.dirname(path))
    try:
        _Removal(budget).remove(parent, os.path.basename(path))
    finally:
        os.close(parent)


class _Removal:
    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._top = -1

    def remove(self, parent: int, name: str) -> None:
        try:
            self._top = open_directory(name, parent)
        except OSError as fault:
            if fault.errno not in NOT_A_DIRECTORY:
                raise
            # A file, or a link: then the link is removed, not its target.
            os.unlink(name, dir_fd=parent)
            return
        try:
            self._empty(self._top, 0)
        finally:
            os.close(self._top)
        os.rmdir(name, dir_fd=parent)

    def _empty(self, directory: int, depth: int) -> None:
        # No other user can add entries any more, so the loop ends.
        take_back(directory)
        while names := _batch(directory):
            removed = [self._remove_entry(directory, name, depth) for name in names]
            # What cannot be removed is left; the rmdir of its directory fails then.
            if not any(removed) or (len(names) < BATCH and self._top != directory):
                return

    def _remove_entry(self, directory: int, name: str, depth: int) -> bool:
        self._budget -= 1
        if self._budget < 0:
            raise TreeTooLarge
        try:
            os.unlink(name, dir_fd=directory)
        except (IsADirectoryError, PermissionError):
            return self._remove_directory(directory, name, depth + 1)
        except OSError:
            return False
        return True

    def _remove_directory(self, parent: int, name: str, depth: int) -> bool:
        try:
            if depth > MAX_DEPTH:
                # The loop over the top directory finds it again under this name.
                fresh = os.urandom(8).hex()
                os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=self._top)
                return True
            self._empty_child(parent, name, depth)
            os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
        return True

    def _empty_child(self, parent: int, name: str, depth: int) -> None:
        child = open_directory(name, parent)
        try:
            self._empty(child, depth)
        finally:
            os.close(child)


def _batch(directory: int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in islice(entries, BATCH)]


def main() -> int:
    """The process that removes large trees for the keeper: each argument is a path."""
    for path in sys.argv[1:]:
        try:
            remove(path)
        except OSError:
            # Already removed, or a broken disk: the next start of the keeper tries again.
            continue
    return 0
