"""Comparing a file with its expected content, mode and owner, and replacing it.

A file is never changed in place: a file with a second name (a hard link) may be somebody else's.
The new file is written next to it and takes its name when it is complete, so that readers and a
full disk never see a part of it.
"""

import contextlib
import os
import stat
from dataclasses import dataclass

from belvedere.agent.workdir.directories import READ, create_file

# Device, inode, size and times of a file that was compared.
Identity = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    content: bytes
    mode: int
    # None: any.
    uid: int | None
    gid: int | None


class NotRegular(Exception):
    """The path has something that is not a regular file; it is never replaced."""


def stat_file(directory: int, name: str) -> os.stat_result | None:
    """None if the file does not exist."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(f"is {_kind(status.st_mode)}, not a regular file; it is not replaced.")
    return status


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a directory"))
    return next((word for test, word in kinds if test(mode)), "a device, pipe or socket")


def identity(status: os.stat_result) -> Identity:
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_size, *times)


def differences(
    directory: int,
    name: str,
    status: os.stat_result,
    expected: ExpectedFile,
    compared: Identity | None,
) -> list[str]:
    """What differs. `compared`: identity of a file that had the expected content; it is not read
    again."""
    has_content = compared == identity(status) or _has_content(directory, name, expected.content)
    comparisons = (
        ("content", has_content),
        ("mode", stat.S_IMODE(status.st_mode) == expected.mode),
        ("owner", expected.uid in (None, status.st_uid)),
        ("group", expected.gid in (None, status.st_gid)),
    )
    return [word for word, is_same in comparisons if not is_same]


def _has_content(directory: int, name: str, content: bytes) -> bool:
    """A file of another size is not read: it may be huge."""
    with open(os.open(name, READ, dir_fd=directory), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(content):
            return False
        return file.read(len(content) + 1) == content


def replace(
    directory: int, name: str, expected: ExpectedFile, old: os.stat_result | None, temporary: str
) -> os.stat_result:
    """Write the file; on an error the old one stays as it is. Without an expected owner, the owner
    of the old file is kept if the agent may set it."""
    with contextlib.suppress(FileNotFoundError):
        # Left by an agent that was killed.
        os.unlink(temporary, dir_fd=directory)
    fd = create_file(temporary, 0o600, directory)
    try:
        _fill(fd, expected, old)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        _sync(directory)
        return os.fstat(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    finally:
        os.close(fd)


def _fill(fd: int, expected: ExpectedFile, old: os.stat_result | None) -> None:
    data = memoryview(expected.content)
    while data:
        data = data[os.write(fd, data) :]
    _set_owner(fd, expected, old)
    # After the owner: a change of the owner clears the setuid bit.
    os.fchmod(fd, expected.mode)
    os.fsync(fd)


def _set_owner(fd: int, expected: ExpectedFile, old: os.stat_result | None) -> None:
    current = os.fstat(fd)
    if old is not None and os.geteuid() == 0:
        _change_owner(fd, current, old.st_uid, old.st_gid)
        current = os.fstat(fd)
    _change_owner(fd, current, expected.uid, expected.gid)


def _change_owner(fd: int, current: os.stat_result, uid: int | None, gid: int | None) -> None:
    owner = current.st_uid if uid is None else uid
    group = current.st_gid if gid is None else gid
    if (owner, group) != (current.st_uid, current.st_gid):
        try:
            os.fchown(fd, owner, group)
        except PermissionError as fault:
            raise OwnerNotAllowed(fault.errno, "The agent may not set the owner.") from fault


class OwnerNotAllowed(PermissionError):
    """Only root can give a file to another user."""


def _sync(directory: int) -> None:
    """The new name survives a power failure. Not every directory can be opened for reading."""
    with contextlib.suppress(OSError):
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
