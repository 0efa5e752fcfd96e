"""Processes of an installation as Linux shows them: memory and processor time."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from belvedere.bench.results import Idle
from belvedere.bench.results import Process as Figure

PROC = Path("/proc")
# What a command line holds, and what the process is therefore.
NAMES = (
    ("agent.keeper", "keeper"),
    ("agent.checks", "checks"),
    ("belvedere.cli.main\0agent", "agent"),
    ("\0up\0", "server"),
)


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    name: str


def of_folder(folder: Path) -> list[Process]:
    """Processes that were told this folder, in their command line or as their data folder."""
    found = []
    for pid, command in _commands():
        if f"\0{folder}" in command or _has_data(pid, str(folder)):
            name = next((name for mark, name in NAMES if mark in command), "")
            found.append(Process(pid, name))
    return found


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
    """What server, agent and keeper take while nobody asks anything; None without /proc."""
    found = [process for process in of_folder(folder) if process.name]
    if not found:
        return None
    before = {process.pid: cpu_s(process.pid) for process in found}
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    figures = [_figure(process, before[process.pid], took) for process in found]
    return Idle(
        seconds=took,
        processes=figures,
        rss_bytes=sum(figure.rss_bytes for figure in figures),
        pss_bytes=sum(figure.pss_bytes for figure in figures),
        cpu_percent=sum(figure.cpu_percent for figure in figures),
    )


def _figure(process: Process, before_s: float, took_s: float) -> Figure:
    rss, pss = _memory(process.pid)
    return Figure(process.name, rss, pss, 100 * (cpu_s(process.pid) - before_s) / took_s)


def cpu_s(pid: int) -> float:
    """Processor time so far. The kernel's clock of that process, because the ticks in /proc are
    hundredths of a second: too coarse for something that sleeps."""
    return time.clock_gettime((~pid << 3) | 2)


def _memory(pid: int) -> tuple[int, int]:
    sizes = {"Rss": 0, "Pss": 0}
    for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in sizes:
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes["Rss"], sizes["Pss"]
