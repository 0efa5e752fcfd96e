"""The state folder: its paths, permissions and locks."""

from __future__ import annotations

import errno
import fcntl
import os
import sys

# Errors of a disk that cannot be written; scripts and tasks cannot cause them.
DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG))


class StateFolder:
    """Paths below the state folder."""

    __slots__ = (
        "cache",
        "credential",
        "files",
        "journal",
        "root",
        "samples",
        "socket",
        "spool",
        "work",
    )

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.cache = self.root + "/cache"
        self.credential = self.root + "/credential.json"
        # Artifacts of scripts by fence, until the server has them.
        self.files = self.root + "/files"
        self.journal = self.root + "/journal"
        self.samples = self.root + "/samples"
        self.socket = self.root + "/keeper.sock"
        self.spool = self.root + "/spool"
        self.work = self.root + "/work"


def prepare(root: str) -> StateFolder:
    """Create missing folders, closed to other users.

    Only root can run scripts as other users, and these must be able to reach their working folder:
    then the path is passable (0711), but not readable.
    """
    folder = StateFolder(root)
    passable = 0o711 if os.geteuid() == 0 else 0o700
    for path, mode in (
        (folder.root, passable),
        (folder.work, passable),
        (folder.cache, 0o700),
        (folder.files, 0o700),
        (folder.spool, 0o700),
    ):
        os.makedirs(path, mode, exist_ok=True)
        _secure(path, mode, follow=path == folder.root)
    return folder


def _secure(path: str, mode: int, *, follow: bool) -> None:
    """Set owner and mode. The state folder itself may be a link of an administrator."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW))
    try:
        if os.geteuid() == 0 and os.fstat(fd).st_uid != 0:
            os.fchown(fd, 0, 0)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def lock(folder: StateFolder, who: str) -> int | None:
    """Lock the folder as `agent` or `keeper` until this process ends; None if it is locked."""
    fd = os.open(f"{folder.root}/{who}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def write_log(text: str) -> None:
    """Write to keeper.log, which is standard error; a full disk must not crash the keeper."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        return


def cookie(folder: StateFolder) -> str:
    """Distinguishes scripts of this agent from those of another agent on the same machine."""
    place = os.stat(folder.root)
    return f"{place.st_dev:x}-{place.st_ino:x}"


def boot_id() -> str:
    """Changes with every start of the machine."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except FileNotFoundError:
        import subprocess

        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
