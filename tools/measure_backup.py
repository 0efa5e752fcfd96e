"""Measures `belvedere backup` and `belvedere restore`: seconds per GB of the database.

A database with `--jobs` ended jobs is backed up and restored on each engine, and the steps of the
restore are listed. On a shared machine the times change with the other load, the CPU time hardly.

    .venv/bin/python tools/measure_backup.py --jobs 200000
    .venv/bin/python tools/measure_backup.py --jobs 200000 --engine postgres --folder /var/tmp
"""

import argparse
import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from belvedere.bench.environment import postgres
from belvedere.bench.environment.databases import temporary_database
from belvedere.bench.environment.private_server import folder_in
from belvedere.bench.measure import fixture, history_data
from belvedere.bench.measure.history import FILL_BATCH_SIZE
from belvedere.db import Tx
from belvedere.server import ports
from belvedere.server.backup.create import back_up
from belvedere.server.backup.load import restore_backup
from belvedere.server.wiring import open_databases
from belvedere.settings import Settings

GB = 1_000_000_000
# Of the restore, the slowest first.
MOST_STEPS = 6


class StepTimes:
    """How long each step took, by the first word of its name, or its table."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._at = time.monotonic()

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        name = step.partition(" ")[0]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._at
        self._at = now


@contextmanager
def empty_databases(engine: str, folder: Path) -> Iterator[tuple[Settings, Settings]]:
    """Where the jobs are, and where they are restored."""
    folders = [folder / "source", folder / "target"]
    for path in folders:
        path.mkdir()
    if engine == "sqlite":
        source, target = (Settings(data=str(path)) for path in folders)
        yield source, target
        return
    with (
        postgres.throwaway() as server,
        temporary_database(server, folder, "source") as source_url,
        temporary_database(server, folder, "target") as target_url,
    ):
        urls = (source_url, target_url)
        source, target = (Settings(str(p), url) for p, url in zip(folders, urls, strict=True))
        yield source, target


def fill(settings: Settings, jobs: int) -> int:
    """Returns the bytes of the database."""
    ports.connect()
    databases = {id(db): db for db in open_databases(settings)}
    db = next(iter(databases.values()))
    try:
        target = db.write_blocking(fixture.create_fixture)
        for start in range(0, jobs, FILL_BATCH_SIZE):
            count = min(FILL_BATCH_SIZE, jobs - start)
            db.write_blocking(history_data.fill, target, start, count, jobs)
        return db.write_blocking(size_of, settings)
    finally:
        for database in databases.values():
            asyncio.run(database.close())


def size_of(tx: Tx, settings: Settings) -> int:
    if tx.dialect.is_shared:
        return int(tx.value("select pg_database_size(current_database())"))
    pages = tx.value("select page_count * page_size from pragma_page_count, pragma_page_size")
    return int(pages)


def cpu_s(settings: Settings) -> float:
    """Of this process, and of all sessions of a temporary PostgreSQL that have ended."""
    if not settings.database:
        return time.process_time()
    [folder] = parse_qs(urlsplit(settings.database).query)["host"]
    pid = (Path(folder) / "data" / "postmaster.pid").read_text().split()[0]
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(stat[13]) + int(stat[14])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def no_report(*_: object) -> None:
    """The backup is one step."""


def measure(engine: str, jobs: int, parent: str) -> None:
    with folder_in(parent) as folder, empty_databases(engine, folder) as (source, target):
        size = fill(source, jobs) / GB
        file = folder / "file.backup"
        began_at = time.monotonic()
        back_up(source, file, no_report)
        backup_s = time.monotonic() - began_at
        steps, began_at, cpu_before_s = StepTimes(), time.monotonic(), cpu_s(target)
        restore_backup(target, file, str, steps, unsigned=True)
        restore_s, restore_cpu_s = time.monotonic() - began_at, cpu_s(target) - cpu_before_s
    print(f"{engine}: {jobs} jobs, {size:.2f} GB")
    print(f"  backup   {backup_s:6.1f} s, {backup_s / size:5.1f} s per GB")
    print(f"  restore  {restore_s:6.1f} s, {restore_s / size:5.1f} s per GB")
    print(f"  CPU time {restore_cpu_s:6.1f} s, {restore_cpu_s / size:5.1f} s per GB (restore)")
    for name, seconds in sorted(steps.seconds.items(), key=lambda item: -item[1])[:MOST_STEPS]:
        print(f"    {name:28} {seconds:6.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200_000)
    parser.add_argument("--engine", choices=["sqlite", "postgres"], action="append")
    parser.add_argument("--folder", default=".", help="on the disk to measure")
    args = parser.parse_args()
    for engine in args.engine or ["sqlite", "postgres"]:
        measure(engine, args.jobs, args.folder)


if __name__ == "__main__":
    main()
