"""Masking secrets in an artifact, byte for byte: its size and everything else stay the same.

A file is not only text: a mask of another length would break formats with offsets (archives,
images, databases). So every byte of an occurrence becomes an asterisk.
"""

from __future__ import annotations

import os

from belvedere.agent.workdir.directories import open_regular
from belvedere.base.text.masking import Masker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Places = list[tuple[int, int]]
    # The open directory, the name in it, and the user that must own the file.
    File = tuple[int, str, int]

# No form of a secret or of a masked argument is longer.
WINDOW = 1 << 20


class TooManySecrets(Exception):
    """More occurrences than the keeper has time for."""


def mask_file(file: File, size: int, masker: Masker, most: int) -> int:
    """Mask the occurrences in the file and return their number. TooManySecrets above `most`, and
    OSError if the file cannot be read or written: then it must not be sent."""
    count = 0
    directory, name, owner = file
    reader, writer = open_regular(name, directory, owner), -1
    try:
        for at, places in _windows(reader, size, masker):
            count += len(places)
            if count > most:
                raise TooManySecrets
            if writer < 0:
                writer = _open_to_write(reader, directory, name)
            for begin, end in places:
                _write(writer, b"*" * (end - begin), at + begin)
        return count
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def _windows(fd: int, size: int, masker: Masker) -> Iterator[tuple[int, Places]]:
    """Occurrences per window, each one window late: until the next window was read, nothing may
    change, because an occurrence across the border could begin inside a masked one."""
    before: tuple[int, Places] = (0, [])
    for at in range(0, size, WINDOW):
        places = masker.places(_read(fd, min(WINDOW + masker.longest, size - at), at))
        if before[1]:
            yield before
        before = (at, places)
    if before[1]:
        yield before


def _read(fd: int, size: int, at: int) -> bytes:
    pieces = []
    while size > 0:
        piece = os.pread(fd, size, at)
        if not piece:
            # The file was truncated in the meantime.
            break
        pieces.append(piece)
        size -= len(piece)
        at += len(piece)
    return b"".join(pieces)


def _open_to_write(fd: int, directory: int, name: str) -> int:
    os.fchmod(fd, 0o600)
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    writer = os.open(name, flags, dir_fd=directory)
    if not os.path.samestat(os.fstat(fd), os.fstat(writer)):
        os.close(writer)
        raise OSError(f"{name} was replaced by another file")
    return writer


def _write(fd: int, data: bytes, at: int) -> None:
    while data:
        done = os.pwrite(fd, data, at)
        data = data[done:]
        at += done


# The names before this version. A keeper that was started by an earlier version and is still
# running imports them from this file. Delete them with the next release.
TooMany, blot = TooManySecrets, mask_file
