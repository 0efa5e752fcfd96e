"""The processes of an installation, from /proc: memory and CPU time."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from belvedere.bench.results import Idle, ProcessUsage

PROC = Path("/proc")
# A part of the command line, and the name of the process that it identifies.
NAMES = (
    ("agent.keeper", "keeper"),
    ("agent.monitoring.checker_main", "checks"),
    ("belvedere.cli.main\0agent", "agent"),
    ("\0up\0", "server"),
)


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    pid: int
    name: str


def of_folder(folder: Path) -> list[ProcessInfo]:
    """Processes that have this folder in their command line or as their data folder, and the
    processes for checks that they have started."""
    commands = dict(_commands())
    own = {
        pid
        for pid, command in commands.items()
        if f"\0{folder}" in command or _has_data(pid, str(folder))
    }
    own |= {
        pid
        for pid, command in commands.items()
        if _name_of(command) == "checks" and _parent_of(pid) in own
    }
    return [ProcessInfo(pid, _name_of(commands[pid])) for pid in sorted(own)]


def _name_of(command: str) -> str:
    return next((name for mark, name in NAMES if mark in command), "")


def _parent_of(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _commands() -> Iterator[tuple[int, str]]:
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), (entry / "cmdline").read_text(errors="replace")


def _has_data(pid: int, folder: str) -> bool:
    with contextlib.suppress(OSError):
        variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return f"BELVEDERE_DATA={folder}".encode() in variables
    return False


def is_alive(pid: int) -> bool:
    try:
        state = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def idle(folder: Path, seconds: float) -> Idle | None:
    """Memory and CPU of server, agent and keeper without any load; None without /proc."""
    running = [process for process in of_folder(folder) if process.name]
    if not running:
        return None
    before = {process.pid: cpu_s(process.pid) for process in running}
    started_at = time.monotonic()
    time.sleep(seconds)
    elapsed_s = time.monotonic() - started_at
    figures = [_figure(process, before[process.pid], elapsed_s) for process in running]
    return Idle(
        seconds=elapsed_s,
        processes=figures,
        rss_bytes=sum(figure.rss_bytes for figure in figures),
        pss_bytes=sum(figure.pss_bytes for figure in figures),
        cpu_percent=sum(figure.cpu_percent for figure in figures),
    )


def _figure(process: ProcessInfo, before_s: float, elapsed_s: float) -> ProcessUsage:
    rss, pss = _memory(process.pid)
    return ProcessUsage(process.name, rss, pss, 100 * (cpu_s(process.pid) - before_s) / elapsed_s)


def family_bytes(pid: int) -> int:
    """The memory of a process and its children; what they share counts once (PSS)."""
    children = [child for child, _ in _commands() if _parent_of(child) == pid]
    total = 0
    for member in (pid, *children):
        # A child may end meanwhile.
        with contextlib.suppress(OSError):
            total += _memory(member)[1]
    return total


def cpu_s(pid: int) -> float:
    """CPU time so far, from the kernel's clock of that process: the ticks in /proc are hundredths
    of a second, which is too coarse for a process that mostly sleeps."""
    return time.clock_gettime((~pid << 3) | 2)


def _memory(pid: int) -> tuple[int, int]:
    sizes = {"Rss": 0, "Pss": 0}
    for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in sizes:
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes["Rss"], sizes["Pss"]
