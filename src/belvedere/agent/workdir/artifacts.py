"""Files that a script leaves for the server: what may go, and what is said of the rest.

The folder is moved away as a whole once its script is over, into a place that only the agent can
enter, so that nobody can put something else under a name that was looked at.
"""

from __future__ import annotations

import errno
import os
import stat

from belvedere.agent.keeper.control_socket import complain
from belvedere.agent.workdir.directories import (
    ANYONE,
    is_own_regular,
    open_directory,
    open_regular,
    take_back,
)
from belvedere.agent.workdir.workdirs import Workplace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from belvedere.base.text.masking import Masker

    Found = dict[str, Any]

# As many, and as much, as the server takes of one attempt.
MOST_FILES = 100
MOST_BYTES = 64 * 1024 * 1024
LONGEST_NAME = 200
# A script that fills the folder cannot hold up the keeper: so many names are looked at.
MOST_NAMES = 1_000
# So many occurrences of secrets are hidden: a script cannot hold up the keeper with more.
MOST_SECRETS = 10_000
# So many of those that stay behind are named.
NAMED = 20


def harvest(place: Workplace, target: str, masker: Masker | None = None) -> Found:
    """Name and size of what goes, and what does not; nothing when the folder was not touched.
    What must not be seen is hidden in what goes."""
    if not place.has_files():
        return {}
    os.rename(place.files, target)
    place.files = ""
    try:
        # Opened only now: the script may have put a link in place of its folder.
        directory = open_directory(target)
    except OSError as fault:
        if fault.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        os.unlink(target)
        return {"files_skipped": [["", "link"]]}
    try:
        # A process of the script may still be at work in it.
        take_back(directory)
        return _sorted(directory, masker, place.owner)
    finally:
        os.close(directory)


class _Hider:
    """Lets no secret go, in a name or in a file."""

    def __init__(self, directory: int, masker: Masker | None, owner: int) -> None:
        self._directory = directory
        self._masker = masker
        self._owner = owner
        self._left = MOST_SECRETS

    def hide(self, name: str, size: int) -> str:
        """Why the file cannot go, or nothing: it shows no secret any more."""
        if self._masker is None:
            return ""
        from belvedere.agent.workdir.artifact_masking import TooMany, blot

        if self._masker.places(name.encode()):
            return "secret"
        try:
            file = (self._directory, name, self._owner)
            self._left -= blot(file, size, self._masker, self._left)
        except TooMany:
            return "secret"
        except OSError as fault:
            complain(f"Secrets in a file cannot be hidden, so it stays: {fault.strerror}")
            return "unreadable"
        return ""

    def shown(self, name: str) -> str:
        said = name.encode("utf-8", "replace")
        if self._masker is not None and self._masker.places(said):
            return "***"
        return said.decode()[:LONGEST_NAME]


def _sorted(directory: int, masker: Masker | None, owner: int = ANYONE) -> Found:
    hider = _Hider(directory, masker, owner)
    taken: list[tuple[str, int]] = []
    skipped: list[list[str]] = []
    room = MOST_BYTES
    with os.scandir(directory) as entries:
        for count, entry in enumerate(entries):
            if count == MOST_NAMES:
                skipped.append(["", "count"])
                break
            reason, size = _look(entry, owner)
            if not reason and size > room:
                reason = "size"
            if not reason and len(taken) == MOST_FILES:
                reason = "count"
            if not reason:
                # Whatever comes of it: so many bytes are searched, and no more.
                room -= size
                reason = hider.hide(entry.name, size)
            if reason:
                skipped.append([hider.shown(entry.name), reason])
            else:
                taken.append((entry.name, size))
    found: Found = {"files": [list(one) for one in sorted(taken)]} if taken else {}
    if skipped:
        found["files_skipped"] = skipped[:NAMED]
    return found


def _look(entry: os.DirEntry[str], owner: int) -> tuple[str, int]:
    """Why it cannot go, or its size."""
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return "gone", 0
    if stat.S_ISLNK(seen.st_mode):
        return "link", 0
    if stat.S_ISDIR(seen.st_mode):
        return "folder", 0
    if not is_own_regular(seen, owner):
        return "kind", 0
    return ("" if is_name(entry.name) else "name"), seen.st_size


def is_name(name: str) -> bool:
    """One that can stand in an address, a page and a file system."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return 0 < size <= LONGEST_NAME and name.isprintable() and name not in (".", "..")


def open_file(folder: str, name: str) -> int:
    """A descriptor to read from; OSError for anything but a plain file of this very folder. Nobody
    else could change the folder since it was looked through."""
    directory = open_directory(folder)
    try:
        return open_regular(name, directory)
    finally:
        os.close(directory)
