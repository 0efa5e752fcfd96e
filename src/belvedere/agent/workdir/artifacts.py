"""Files that a script leaves for the server: what may go, and what is said of the rest.

The folder is moved away as a whole once its script is over, into a place that only the agent can
enter, so that nobody can put something else under a name that was looked at.
"""

from __future__ import annotations

import errno
import os
import stat

from belvedere.agent.keeper.control_socket import write_log
from belvedere.agent.workdir.directories import (
    ANYONE,
    is_own_regular,
    open_directory,
    open_regular,
    take_back,
)
from belvedere.agent.workdir.workdirs import Workdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from belvedere.base.text.masking import Masker

    ReportFields = dict[str, Any]

# As many, and as much, as the server takes of one attempt.
MAX_FILES = 100
MAX_BYTES = 64 * 1024 * 1024
MAX_NAME = 200
# A script that fills the folder cannot hold up the keeper: so many names are looked at.
MAX_NAMES = 1_000
# So many occurrences of secrets are hidden: a script cannot hold up the keeper with more.
MAX_SECRETS = 10_000
# So many of those that stay behind are named.
MAX_SKIPPED = 20


def collect_artifacts(place: Workdir, target: str, masker: Masker | None = None) -> ReportFields:
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
        return _collect(directory, masker, place.owner)
    finally:
        os.close(directory)


class _SecretMasking:
    """Lets no secret go, in a name or in a file."""

    def __init__(self, directory: int, masker: Masker | None, owner: int) -> None:
        self._directory = directory
        self._masker = masker
        self._owner = owner
        self._left = MAX_SECRETS

    def mask(self, name: str, size: int) -> str:
        """Why the file cannot go, or nothing: it shows no secret any more."""
        if self._masker is None:
            return ""
        from belvedere.agent.workdir.artifact_masking import TooManySecrets, mask_file

        if self._masker.places(name.encode()):
            return "secret"
        try:
            file = (self._directory, name, self._owner)
            self._left -= mask_file(file, size, self._masker, self._left)
        except TooManySecrets:
            return "secret"
        except OSError as fault:
            write_log(f"Secrets in a file cannot be hidden, so it stays: {fault.strerror}")
            return "unreadable"
        return ""

    def display_name(self, name: str) -> str:
        encoded = name.encode("utf-8", "replace")
        if self._masker is not None and self._masker.places(encoded):
            return "***"
        return encoded.decode()[:MAX_NAME]


def _collect(directory: int, masker: Masker | None, owner: int = ANYONE) -> ReportFields:
    masking = _SecretMasking(directory, masker, owner)
    files: list[tuple[str, int]] = []
    skipped: list[list[str]] = []
    room = MAX_BYTES
    with os.scandir(directory) as entries:
        for count, entry in enumerate(entries):
            if count == MAX_NAMES:
                skipped.append(["", "count"])
                break
            reason, size = _inspect(entry, owner)
            if not reason and size > room:
                reason = "size"
            if not reason and len(files) == MAX_FILES:
                reason = "count"
            if not reason:
                # Whatever comes of it: so many bytes are searched, and no more.
                room -= size
                reason = masking.mask(entry.name, size)
            if reason:
                skipped.append([masking.display_name(entry.name), reason])
            else:
                files.append((entry.name, size))
    fields: ReportFields = {"files": [list(file) for file in sorted(files)]} if files else {}
    if skipped:
        fields["files_skipped"] = skipped[:MAX_SKIPPED]
    return fields


def _inspect(entry: os.DirEntry[str], owner: int) -> tuple[str, int]:
    """Why it cannot go, or its size."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return "gone", 0
    if stat.S_ISLNK(status.st_mode):
        return "link", 0
    if stat.S_ISDIR(status.st_mode):
        return "folder", 0
    if not is_own_regular(status, owner):
        return "kind", 0
    return ("" if is_name(entry.name) else "name"), status.st_size


def is_name(name: str) -> bool:
    """One that can stand in an address, a page and a file system."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return 0 < size <= MAX_NAME and name.isprintable() and name not in (".", "..")


def open_file(folder: str, name: str) -> int:
    """A descriptor to read from; OSError for anything but a plain file of this very folder. Nobody
    else could change the folder since it was looked through."""
    directory = open_directory(folder)
    try:
        return open_regular(name, directory)
    finally:
        os.close(directory)
