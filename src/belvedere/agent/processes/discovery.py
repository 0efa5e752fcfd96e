"""Finding every process that a script left in the world, and signalling exactly those.

The keeper is a sub-reaper: whatever loses its parent below it becomes its own child. So the
processes of a fence are the script's tree plus those orphans among the keeper's children that
carry one of the fence's signs: session, mark, cookie, working folder or output pipe.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal

from belvedere.agent.processes.spawn import MARK_LIMIT
from belvedere.agent.workdir.workdirs import KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PR_SET_CHILD_SUBREAPER = 36
PAGE = 32 * 1024
COOKIE = b"BELVEDERE_COOKIE="


class ProcessMarks:
    """What tells the processes of a fence from others."""

    __slots__ = ("cookie", "folder", "mark", "pipe", "session")

    def __init__(self, session: int, mark: int, cookie: str, folder: str, pipe: int) -> None:
        self.session = session
        self.mark = mark
        self.cookie = cookie.encode()
        self.folder = folder
        # Empty when the output is closed: then nobody holds it.
        self.pipe = f"pipe:[{os.fstat(pipe).st_ino}]" if pipe >= 0 else ""


def become_subreaper() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The kernel has no child sub-reapers")


class OwnChildren:
    """The keeper's children, read in 2 us from one descriptor that stays open."""

    __slots__ = ("_fd",)

    def __init__(self) -> None:
        self._fd = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)

    def pids(self) -> list[int]:
        pids = os.pread(self._fd, PAGE, 0)
        while len(pids) % PAGE == 0 and pids:
            more = os.pread(self._fd, PAGE, len(pids))
            if not more:
                break
            pids += more
        return [int(pid) for pid in pids.split()]


def children(pid: int) -> list[int]:
    """Of any thread of this process."""
    pids: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                pids += map(int, file.readall().split())
    except OSError:
        # It ended while we looked; its children are now somebody's, the next walk meets them.
        pass
    return pids


def tree(roots: Iterable[int]) -> dict[int, int]:
    """Every process at or below these, each with its parent (zero for the roots)."""
    pids = dict.fromkeys(roots, 0)
    queue = list(pids)
    while queue:
        parent = queue.pop()
        for pid in children(parent):
            if pid not in pids:
                pids[pid] = parent
                queue.append(pid)
    return pids


def send(pid: int, parent: int, signal_number: signal.Signals) -> None:
    """Signal a process of a tree. One that is not our child may have ended and its number may be
    another's by now: the descriptor pins it, and then its parent must still be the one we saw."""
    try:
        if parent == 0:
            os.kill(pid, signal_number)
            return
        fd = os.pidfd_open(pid)
        try:
            if parent_of(pid) == parent:
                signal.pidfd_send_signal(fd, signal_number)
        finally:
            os.close(fd)
    except OSError:
        # Gone, or not ours to signal (set-uid): the next walk tells which.
        return


def send_to_group(leader: int, signal_number: signal.Signals) -> bool:
    """Whether it was sent. The leader must be a child of ours that was not reaped."""
    try:
        os.killpg(leader, signal_number)
    except OSError:
        return False
    return True


def group_of(pid: int) -> int:
    """Zero when it is gone."""
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def parent_of(pid: int) -> int:
    return int((_stat(pid) or [b"", b"-1"])[1])


def _stat(pid: int) -> list[bytes]:
    """The fields after the name: state, parent, group, session, terminal, ..."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # The name stands in parentheses and may itself hold anything.
            return file.readall().rpartition(b")")[2].split()
    except OSError:
        return []


def has_mark(pid: int, marks: ProcessMarks) -> bool:
    """Whether this process, a child of ours, carries a sign of the fence."""
    try:
        if os.getsid(pid) == marks.session:
            return True
        cookie = cookie_of(pid)
        if cookie:
            return cookie == marks.cookie
        # It wiped its environment, or wrote its title over it as many daemons do.
        return (
            _has_limit(pid, marks.mark)
            or _has_folder(pid, marks.folder)
            or _has_pipe(pid, marks.pipe)
        )
    except ProcessLookupError:
        return False


def _has_limit(pid: int, mark: int) -> bool:
    if MARK_LIMIT is None or mark == 0:
        return False
    try:
        return resource.prlimit(pid, MARK_LIMIT)[0] == mark
    except PermissionError:
        return False


def cookie_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            pids = file.readall()
    except OSError:
        return b""
    at = pids.find(COOKIE)
    return pids[at + len(COOKIE) :].split(b"\0", 1)[0] if at >= 0 else b""


def _has_folder(pid: int, folder: str) -> bool:
    try:
        return (os.readlink(f"/proc/{pid}/cwd") + "/").startswith(folder + "/")
    except OSError:
        return False


def _has_pipe(pid: int, pipe: str) -> bool:
    try:
        return any(
            os.readlink(f"/proc/{pid}/fd/{fd}") == pipe for fd in os.listdir(f"/proc/{pid}/fd")
        )
    except OSError:
        return False


def find_leftovers(cookies: set[bytes], checks: bytes, folder: str) -> list[int]:
    """Anywhere on this machine: processes with one of these cookies or with that of any check, or
    in a working folder that was not kept, without a terminal (a person's shell may stand there, a
    script's has none). Only for the start, when nothing is below us any more."""
    return [
        pid
        for pid in _all_pids()
        if (cookie := cookie_of(pid)) in cookies
        or cookie.startswith(checks)
        or _works_in(pid, folder)
    ]


def _all_pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def _works_in(pid: int, folder: str) -> bool:
    try:
        place = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return False
    if not place.startswith(folder + "/"):
        return False
    is_kept = place[len(folder) + 1 :].split("/")[0].endswith(KEPT)
    return not is_kept and _stat(pid)[4:5] == [b"0"]
