"""The state folder: what lies where, and who may hold it."""

from __future__ import annotations

import errno
import fcntl
import os

# Errors of a disk that cannot be written; nothing that a script or its task could cause.
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
        # What scripts left for the server, by fence, until it has it.
        self.files = self.root + "/files"
        self.journal = self.root + "/journal"
        self.samples = self.root + "/samples"
        self.socket = self.root + "/keeper.sock"
        self.spool = self.root + "/spool"
        self.work = self.root + "/work"


def prepare(root: str) -> StateFolder:
    """Make what is missing, closed to everybody else.

    Only root can run scripts as other users, and those must be able to walk to their working
    folder: then the way there is passable, though not readable.
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
    """Ours alone to change. The state folder itself may be a link that an administrator made."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW))
    try:
        if os.geteuid() == 0 and os.fstat(fd).st_uid != 0:
            os.fchown(fd, 0, 0)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def lock(folder: StateFolder, who: str) -> int | None:
    """Hold the folder as `agent` or `keeper` until this process ends; None when another does."""
    fd = os.open(f"{folder.root}/{who}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def cookie(folder: StateFolder) -> str:
    """Tells our scripts from those of another agent on this machine."""
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
