"""Which processes belong to a folder of a test, however they hide."""

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from agent import processes
from e2e.wait_until import until

# Everything that a script starts inherits it; its value begins with the state folder's identity.
COOKIE = b"BELVEDERE_COOKIE="


def _fields(pid: int) -> list[bytes]:
    """The fields after the name: state, parent, group, session."""
    return processes.read(pid, "stat").rpartition(b")")[2].split()


def is_alive(pid: int) -> bool:
    """A zombie does not count: it only waits for its parent to read its end."""
    return _fields(pid)[:1] not in ([], [b"Z"], [b"X"])


def of_folder(folder: Path) -> list[int]:
    """Running processes whose command line contains this folder, whose working folder is below it,
    or that have a cookie of an agent whose state folder is below it; our own does not count."""
    signs = [os.fsencode(folder), *map(_cookie, _folders(folder))]
    pids = [pid for pid in processes.pids() if _bears(pid, signs) or _stands_in(pid, folder)]
    return [pid for pid in pids if pid != os.getpid() and is_alive(pid)]


def _folders(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.glob("*"), *folder.glob("*/*")) if path.is_dir()]


def _cookie(state: Path) -> bytes:
    place = os.stat(state)
    return COOKIE + f"{place.st_dev:x}-{place.st_ino:x}.".encode()


def _bears(pid: int, signs: Iterable[bytes]) -> bool:
    data = processes.read(pid, "cmdline") + processes.read(pid, "environ")
    return any(sign in data for sign in signs)


def _stands_in(pid: int, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/cwd").startswith(str(folder))
    return False


def scripts(state: Path) -> list[int]:
    """Running processes that have a cookie of the agent with this state folder."""
    if not state.exists():
        return []
    cookie = _cookie(state)
    return [pid for pid in processes.pids() if _bears(pid, [cookie]) and is_alive(pid)]


def keepers(state: Path) -> list[int]:
    """Keepers of this state folder; there should never be two."""
    return [
        pid
        for pid in processes.pids()
        if b"belvedere.agent.keeper.program" in (line := processes.read(pid, "cmdline"))
        and os.fsencode(state) in line.split(b"\0")
        and is_alive(pid)
    ]


def programs(state: Path) -> list[int]:
    """The agent and the keepers of this state folder, also a process that is about to become a
    keeper: until then it has the command line of the agent that starts it."""
    return [
        pid
        for pid in processes.pids()
        if os.fsencode(state) in processes.read(pid, "cmdline").split(b"\0") and is_alive(pid)
    ]


def descendants(root: int) -> list[int]:
    """Running descendants by the parents that the kernel reports. A keeper adopts processes that
    lose their parent, so nothing that it started can be anywhere else."""
    parents = {pid: int(fields[1]) for pid in processes.pids() if (fields := _fields(pid))}
    items, queue = [], [root]
    while queue:
        above = queue.pop()
        children = [pid for pid, parent in parents.items() if parent == above]
        queue += children
        items += [pid for pid in children if is_alive(pid)]
    return items


def check_gone(folder: Path, within_s: float = 10.0) -> None:
    """Fail unless everything of this folder ends by itself; then end it, so that one failing
    test does not disturb the next."""
    try:
        until(
            lambda: not of_folder(folder),
            within_s,
            lambda: f"left behind: {_command_lines(folder)}",
        )
    finally:
        end(folder)


def end(folder: Path) -> None:
    for pid in of_folder(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command_lines(folder: Path) -> list[str]:
    lines = [
        (pid, processes.read(pid, "cmdline").replace(b"\0", b" ")) for pid in of_folder(folder)
    ]
    return [f"{pid} {line.decode(errors='replace')[:200]}" for pid, line in lines]


def resident_kib(pid: int, *, peak: bool = False) -> int:
    word = "VmHWM:" if peak else "VmRSS:"
    return int(processes.read(pid, "status").decode().split(word)[1].split()[0])


def forget_peak(pid: int) -> None:
    """From now on the peak is measured again."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
