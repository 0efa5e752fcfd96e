"""The load of an idle server on a database that was filled before.

The database is filled by the operations of the product, without a server. Work that a server does
after them in the background is finished first, so that it does not count as load of an idle one.
"""

import time
from collections.abc import Callable
from pathlib import Path

from belvedere.bench.environment import private_server, processes
from belvedere.bench.measure.history_data import skip_events
from belvedere.bench.results import Idle
from belvedere.db import Database
from belvedere.jobs.search import index, progress

INDEX_BATCH_SIZE = 2_000
# Time for the server's clean-up after the start, before it is idle.
SETTLE_S = 15.0


def finish_background_work(db: Database, step: Callable[[], None]) -> None:
    """What a server would do in the background after the database was filled."""
    db.write_blocking(skip_events)
    # The index of the text search.
    db.write_blocking(progress.start)
    while db.write_blocking(progress.add_older, INDEX_BATCH_SIZE):
        step()
    while db.dialect.text_index.merge and db.write_blocking(index.merge_step):
        step()
    if db.dialect.name == "postgres":
        # Autovacuum would do so within a minute.
        db.write_blocking(lambda tx: tx.execute("analyze"))


def measure(folder: Path, database: str, seconds: float) -> Idle | None:
    """`database`: empty for SQLite in this folder. None where the CPU time cannot be read."""
    with private_server.running(folder, database):
        time.sleep(SETTLE_S)
        return processes.idle(folder, seconds)
