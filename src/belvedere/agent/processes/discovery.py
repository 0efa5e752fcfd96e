"""Finding every process of a script, and signalling exactly those.

The keeper is a sub-reaper: a process below it that loses its parent becomes its own child. So the
processes of a fence are the script's tree plus those orphans among the keeper's children that have
one of the fence's marks: session, resource limit, cookie, working folder or output pipe.
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
    """What identifies the processes of a fence."""

    __slots__ = ("cookie", "folder", "mark", "pipe", "session")

    def __init__(self, session: int, mark: int, cookie: str, folder: str, pipe: int) -> None:
        self.session = session
        self.mark = mark
        self.cookie = cookie.encode()
        self.folder = folder
        # Empty if the output is closed: then no process has it open.
        self.pipe = f"pipe:[{os.fstat(pipe).st_ino}]" if pipe >= 0 else ""


def become_subreaper() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The kernel has no child sub-reapers")


class OwnChildren:
    """The keeper's children, read in 2 µs from one descriptor that stays open."""

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
    """Children of all threads of this process."""
    pids: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                pids += map(int, file.readall().split())
    except OSError:
        # It ended in the meantime; its children have another parent, and the next walk finds them.
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
    """Signal a process of a tree. A process that is not the keeper's child may have ended, and its
    pid may be reused: the descriptor pins it, and its parent must still be the same."""
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
        # It ended, or may not be signalled (set-uid): the next walk shows which.
        return


def send_to_group(leader: int, signal_number: signal.Signals) -> bool:
    """Whether the signal was sent. The leader must be a child that was not reaped."""
    try:
        os.killpg(leader, signal_number)
    except OSError:
        return False
    return True


def group_of(pid: int) -> int:
    """The process group; zero if the process has ended."""
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
            # The name is in parentheses and may contain any character.
            return file.readall().rpartition(b")")[2].split()
    except OSError:
        return []


def has_mark(pid: int, marks: ProcessMarks) -> bool:
    """Whether this child of the keeper has a mark of the fence."""
    try:
        if os.getsid(pid) == marks.session:
            return True
        cookie = cookie_of(pid)
        if cookie:
            return cookie == marks.cookie
        # It cleared its environment, or overwrote it with its title as many daemons do.
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
    """Processes on this machine with one of these cookies or that of a check, or without a terminal
    in a working folder that was not kept (a person's shell may be in there, but has a terminal).
    Only for the start, when the keeper has no children yet."""
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
