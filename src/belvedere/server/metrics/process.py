"""Metrics of this process and its disk. The names of the process are those of every Prometheus
client."""

import os
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

from belvedere import __version__
from belvedere.server.metrics.text_format import Family, counter, gauge
from belvedere.server.runtime import ServerRuntime

_PAGE = resource.getpagesize()
FILES = ("belvedere.db", "belvedere.db-wal", "logs.db", "logs.db-wal")


def families(runtime: ServerRuntime) -> Iterator[Family]:
    yield Family(
        "belvedere_build_info",
        "gauge",
        "Version of the server and engine of its database.",
        ("version", "engine"),
        [((__version__, runtime.db.dialect.name), 1)],
    )
    usage = resource.getrusage(resource.RUSAGE_SELF)
    yield counter(
        "process_cpu_seconds_total", "CPU time of this process.", usage.ru_utime + usage.ru_stime
    )
    yield gauge(
        "process_start_time_seconds",
        "When this server started, in seconds since 1970.",
        runtime.started_at / 1_000,
    )
    yield from _descriptors()
    yield from _memory()
    yield from _disk(runtime.settings.folder)


def _descriptors() -> Iterator[Family]:
    count = count_descriptors()
    if count is not None:
        yield gauge("process_open_fds", "Open file descriptors.", count)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        yield gauge("process_max_fds", "Limit of open file descriptors.", limit)


def count_descriptors() -> int | None:
    """None where the system does not list them."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return None


def _memory() -> Iterator[Family]:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return
    yield gauge("process_resident_memory_bytes", "Resident memory.", pages * _PAGE)


def _disk(folder: Path) -> Iterator[Family]:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return
    yield gauge("belvedere_disk_free_bytes", "Free space on the disk of the data.", usage.free)
    yield gauge("belvedere_disk_size_bytes", "Size of the disk of the data.", usage.total)
    sizes = [((name,), path.stat().st_size) for name in FILES if (path := folder / name).exists()]
    if sizes:
        yield Family(
            "belvedere_database_file_bytes",
            "gauge",
            "Size of the files of a SQLite database.",
            ("file",),
            sizes,
        )
