"""Files and directories that the user of a script can change, reached by descriptor.

A path names whatever is there at that moment: between two calls its owner can put a link in the
place of a file or of a directory. So everything in such a directory is opened relative to an open
descriptor without following links, and every change of owner or mode goes to the open file.
"""

from __future__ import annotations

import os
import stat

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Opening a pipe, a leased file or a device must not block.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
ANYONE = -1


def open_directory(name: str, parent: int | None = None) -> int:
    """OSError for a link and for anything that is not a directory."""
    return os.open(name, DIRECTORY, dir_fd=parent)


def make_directory(name: str, parent: int) -> int:
    """Create a directory that only the agent can enter; its descriptor."""
    os.mkdir(name, 0o700, dir_fd=parent)
    return open_directory(name, parent)


def create_file(name: str, mode: int, parent: int) -> int:
    """A new file to write; FileExistsError if the name exists, also as a link."""
    return os.open(name, CREATE, mode, dir_fd=parent)


def open_regular(name: str, parent: int, owner: int = ANYONE) -> int:
    """A regular file in this directory, to read; OSError for anything else.

    A file with a second name may be one that its user could not read. So may be a file of another
    owner with one name: a hard link keeps a file whose other name was replaced.
    """
    if "/" in name:
        raise OSError(f"{name} is not a plain file name")
    fd = os.open(name, READ, dir_fd=parent)
    if not is_own_regular(os.fstat(fd), owner):
        os.close(fd)
        raise OSError(f"{name} is not a regular file of its user")
    return fd


def is_own_regular(file: os.stat_result, owner: int) -> bool:
    if not stat.S_ISREG(file.st_mode) or file.st_nlink != 1:
        return False
    return owner in (ANYONE, file.st_uid)


def take_back(directory: int) -> None:
    """From now on only the agent can enter it; that also applies to processes inside of it."""
    if os.geteuid() == 0:
        os.fchown(directory, 0, 0)
    os.fchmod(directory, 0o700)
