"""Artifacts of a script: which files are sent to the server, and why others are skipped.

The folder is moved to a place that only the agent can enter when its script has ended, so that
nobody can replace a file after it was checked.
"""

from __future__ import annotations

import errno
import os
import stat

from belvedere.agent.state_folder import write_log
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

# Number and size of files that the server accepts for one attempt.
MAX_FILES = 100
MAX_BYTES = 64 * 1024 * 1024
MAX_NAME = 200
# The number of names that are checked: a script that fills the folder must not block the keeper.
MAX_NAMES = 1_000
# The number of occurrences of secrets that are masked, for the same reason.
MAX_SECRETS = 10_000
# The number of skipped files that are reported.
MAX_SKIPPED = 20


def collect_artifacts(place: Workdir, target: str, masker: Masker | None = None) -> ReportFields:
    """Name and size of the files to send, and the skipped ones; empty if the folder was not used.
    Secrets are masked in the files."""
    if not place.has_files():
        return {}
    os.rename(place.files, target)
    place.files = ""
    try:
        # Opened only now: the script may have replaced its folder by a link.
        directory = open_directory(target)
    except OSError as fault:
        if fault.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        os.unlink(target)
        return {"files_skipped": [["", "link"]]}
    try:
        # A process of the script may still use it.
        take_back(directory)
        return _collect(directory, masker, place.owner)
    finally:
        os.close(directory)


class _SecretMasking:
    """Masks secrets in files, and rejects files with a secret in their name."""

    def __init__(self, directory: int, masker: Masker | None, owner: int) -> None:
        self._directory = directory
        self._masker = masker
        self._owner = owner
        self._budget = MAX_SECRETS

    def mask(self, name: str, size: int) -> str:
        """Mask secrets in the file; returns why it cannot be sent, or an empty string."""
        if self._masker is None:
            return ""
        from belvedere.agent.workdir.artifact_masking import TooManySecrets, mask_file

        if self._masker.places(name.encode()):
            return "secret"
        try:
            file = (self._directory, name, self._owner)
            self._budget -= mask_file(file, size, self._masker, self._budget)
        except TooManySecrets:
            return "secret"
        except OSError as fault:
            write_log(f"artifact skipped, masking failed error={fault.strerror}")
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
    remaining = MAX_BYTES
    with os.scandir(directory) as entries:
        for count, entry in enumerate(entries):
            if count == MAX_NAMES:
                skipped.append(["", "count"])
                break
            reason, size = _inspect(entry, owner)
            if not reason and size > remaining:
                reason = "size"
            if not reason and len(files) == MAX_FILES:
                reason = "count"
            if not reason:
                # Counted before masking: the limit is for the bytes that are searched.
                remaining -= size
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
    """Why the file cannot be sent, or its size."""
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
    """Whether the name is valid in a URL, on a page and in a file system."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return 0 < size <= MAX_NAME and name.isprintable() and name not in (".", "..")


def open_file(folder: str, name: str) -> int:
    """A descriptor to read from; OSError for anything but a regular file in this folder. No other
    user could change the folder since it was checked."""
    directory = open_directory(folder)
    try:
        return open_regular(name, directory)
    finally:
        os.close(directory)
