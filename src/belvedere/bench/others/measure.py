"""Installs the other job queues in a temporary environment, runs their programs there and collects
the figures."""

import json
import shutil
import subprocess
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from belvedere.base.errors import Refused
from belvedere.bench.environment.databases import temporary_database
from belvedere.bench.results import MILLI, QueueFigures

PROGRAMS = Path(__file__).parent
REQUIREMENTS = PROGRAMS / "requirements.txt"
LIMIT_S = 600.0
START_TIMEOUT_S = 10.0
Report = Callable[[str, int, int], None]


def measure(
    folder: Path, script: Path, database: str, numbers: tuple[int, int, int], report: Report
) -> list[QueueFigures]:
    """`numbers` are runs one at a time, concurrent jobs, and their callers. procrastinate needs the
    PostgreSQL server `database`; huey on Redis needs an installed redis-server."""
    report("installing other job queues", 0, 0)
    python = _install(folder)

    def run(name: str, program: str, store: str, *, durable: bool) -> QueueFigures:
        report(name, 0, 0)
        words = [python, PROGRAMS / program, store, script, *map(str, numbers)]
        return _figures(name, _output(words), numbers[1], durable=durable)

    rows = [run("huey on SQLite", "huey_program.py", str(folder / "huey.db"), durable=True)]
    if shutil.which("redis-server"):
        with _redis(folder) as address:
            rows.append(run("huey on Redis", "huey_program.py", address, durable=False))
    if database:
        with temporary_database(database, folder, "others") as url:
            rows.append(run("procrastinate", "procrastinate_program.py", url, durable=True))
    return rows


def _install(folder: Path) -> Path:
    """The Python of the environment; the packages come from the index that pip uses."""
    home = folder / "other-queues"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    options = ("--quiet", "--disable-pip-version-check", "--require-hashes")
    words = [str(python), "-m", "pip", "install", *options, "--only-binary", ":all:"]
    pip = subprocess.run([*words, "-r", str(REQUIREMENTS)], capture_output=True, text=True)
    if pip.returncode != 0:
        raise Refused(f"The other job queues could not be installed. {pip.stderr[-2_000:]}")
    return python


def _output(words: list[object]) -> str:
    program = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=LIMIT_S
    )
    if program.returncode != 0:
        raise Refused(f"Another job queue failed. {program.stderr[-2_000:]}")
    return program.stdout


def _figures(name: str, output: str, jobs: int, *, durable: bool) -> QueueFigures:
    figures = json.loads(output)
    return QueueFigures(
        name=name,
        p50_ms=median(figures["times"]) / MILLI,
        per_second=jobs / figures["seconds"],
        is_durable=durable,
    )


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    """A temporary Redis that writes nothing to the disk, as its distributions configure it when
    jobs may be lost."""
    socket = folder / "redis.sock"
    words = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""]
    with subprocess.Popen([*words, "--dir", str(folder)], stdout=subprocess.DEVNULL) as server:
        try:
            give_up_at = time.monotonic() + START_TIMEOUT_S
            while not socket.exists():
                if server.poll() is not None or time.monotonic() > give_up_at:
                    raise Refused("The temporary Redis did not start.")
                time.sleep(0.01)
            yield f"unix://{socket}"
        finally:
            server.terminate()
