"""The directory of a file, opened one component of its path at a time.

The agent may be root, and a directory of the path may belong to somebody else, who can put a link
in the place of anything inside it at any moment. So every part is opened relative to the directory
before it, without following links. A link is followed only if nobody else can have created it, such
as /var/run.
"""

import contextlib
import errno
import os
import stat

MAX_LINKS = 40
# Needs no right to list the directory.
DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
# The mode of directories that are created.
NEW_DIRECTORY = 0o755


def open_parent(path: str, *, creates: bool) -> tuple[int, str]:
    """The descriptor of the file's directory, and the name of the file in it. `creates`: create
    missing directories."""
    *parts, name = _parts(path)
    directory = os.open("/", DIRECTORY)
    links = 0
    try:
        while parts:
            part = parts.pop(0)
            target = _link_target(directory, part)
            if target is None:
                directory = _replace(directory, _enter(directory, part, creates=creates))
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, f"{path} contains more than {MAX_LINKS} links.")
            if target.startswith("/"):
                directory = _replace(directory, os.open("/", DIRECTORY))
            parts = [*_parts(target), *parts]
    except BaseException:
        os.close(directory)
        raise
    return directory, name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _replace(old: int, new: int) -> int:
    os.close(old)
    return new


def _enter(directory: int, part: str, *, creates: bool) -> int:
    try:
        return os.open(part, DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        if not creates:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, NEW_DIRECTORY, dir_fd=directory)
    return os.open(part, DIRECTORY, dir_fd=directory)


def _link_target(directory: int, part: str) -> str | None:
    """The target of a link; None if it is none. OSError for a link that is not trusted."""
    try:
        status = os.stat(part, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    if not _is_trusted(os.fstat(directory), status):
        raise OSError(errno.ELOOP, f"The directory {part!r} is a link that others can replace.")
    return os.readlink(part, dir_fd=directory)


def _is_trusted(directory: os.stat_result, link: os.stat_result) -> bool:
    """Whether only root and the agent's user can create or replace this link."""
    trusted = (0, os.geteuid())
    if directory.st_uid not in trusted or link.st_uid not in trusted:
        return False
    is_shared = bool(directory.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    return not is_shared or bool(directory.st_mode & stat.S_ISVTX)
