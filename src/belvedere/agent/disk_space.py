"""Whether the agent's disk has space for more work: free bytes, free inodes, and failed writes."""

import contextlib
import os
from collections.abc import Sequence
from time import monotonic

MIN_FREE_BYTES = 16 * 1024 * 1024
MIN_FREE_INODES = 500
# Work is accepted again with half as much more than the minimum: a host whose scripts use up the
# space at once would otherwise stop and resume with every script.
RESUME_AT = 1.5
# Before an order the disk is checked, but not more often than this.
LOOK_S = 1.0
PROBE = bytes(64 * 1024)
# The reason in the report of an order that was not started because of this; the server requeues
# the job.
DISK_FULL = "disk_full"


class DiskSpace:
    """`message` says what is missing; empty: the host accepts work."""

    def __init__(
        self,
        folders: Sequence[str],
        min_bytes: int = MIN_FREE_BYTES,
        min_inodes: int = MIN_FREE_INODES,
    ) -> None:
        self._folders = folders
        self._min_bytes = min_bytes
        self._min_inodes = min_inodes
        self._looked_at = -LOOK_S
        # A write failed (a quota, a broken disk): free space does not help until a write succeeds.
        self._has_failed = False
        self.message = ""

    def check(self) -> None:
        """A cheap check before an order."""
        now = monotonic()
        if not self.message and now - self._looked_at >= LOOK_S:
            self._looked_at = now
            self.message = self._shortage(1.0)

    def fail(self, message: str) -> None:
        """A write failed. The first message stays until there is space again."""
        self._has_failed = True
        self.message = self.message or message

    def refresh(self) -> None:
        """Check with every heartbeat; in a thread, because it may write."""
        if not self.message:
            self.message = self._shortage(1.0)
        elif not self._shortage(RESUME_AT) and (not self._has_failed or self._can_write()):
            self._has_failed = False
            self.message = ""

    def _shortage(self, factor: float) -> str:
        for folder in self._folders:
            try:
                status = os.statvfs(folder)
            except OSError as fault:
                return f"The folder {folder} cannot be read: {fault.strerror}."
            free, inodes = status.f_bavail * status.f_frsize, status.f_favail
            if free < self._min_bytes * factor:
                return f"{folder} has {free} bytes free; {self._min_bytes} are needed."
            # Some file systems have no fixed number of inodes and report none.
            if status.f_files and inodes < self._min_inodes * factor:
                return f"{folder} has {inodes} inodes free; {self._min_inodes} are needed."
        return ""

    def _can_write(self) -> bool:
        if not self._folders:
            return True
        path = f"{self._folders[0]}/probe"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                size = os.write(fd, PROBE)
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
        return size == len(PROBE)
