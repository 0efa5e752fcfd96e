"""A database that Litestream replicated, restored into another folder: nothing runs again."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from belvedere.db.installation import epoch_of
from e2e.litestream import S3, Litestream
from e2e.programs import Server
from e2e.traced_job import TracedJob, list_unconfirmed
from e2e.wait_until import until
from e2e.world import World

# More than SQLite writes between two automatic checkpoints (1,000 pages of 4 KiB).
BIG_SCRIPT = (
    "#!/bin/sh\n" + "# 64 characters, of which the last one is the end of this line\n" * 15_000
)
BIG_TASKS = 6


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "world") as new_world:
        new_world.start()
        yield new_world


@pytest.fixture
def litestream(world: World, tmp_path: Path) -> Iterator[Litestream]:
    s3 = S3(tmp_path / "s3")
    program = Litestream(tmp_path / "litestream", world.server.data, s3.start())
    program.start()
    yield program
    program.end()
    s3.kill()


@pytest.mark.limit(120)
def test_a_restored_replica_holds_jobs_that_may_have_run(
    world: World, litestream: Litestream, tmp_path: Path
) -> None:
    web = world.agent("web", "--slots", "1")
    running = TracedJob(world, web, "running").create().begins()
    queued = TracedJob(world, web, "queued").create()
    for number in range(BIG_TASKS):
        world.task(f"{BIG_SCRIPT}# {number}\n", web)
    litestream.wait_synced()
    litestream.end()
    # The replica has nothing of this.
    running.ends()
    queued.ends()
    until(lambda: list_unconfirmed(web) == [])
    web.stop()
    world.server.kill()
    restored = tmp_path / "restored"
    litestream.restore(restored)
    shutil.copy(world.server.data / "secret.key", restored / "secret.key")
    assert len(_names(restored / "belvedere.db", "tasks")) == BIG_TASKS + 2
    world.server = Server(restored)
    assert world.start()
    # No agent has connected, and nobody has marked the database.
    assert "it counts as restored" in world.server.read_log()
    assert queued.stands == ("onhold", "maybe", "restored")
    web.start(world.url)
    world.wait_connected(web)
    until(lambda: running.record["state"] == "lost", 20, lambda: running.record)
    later = TracedJob(world, web, "later").create()
    assert epoch_of(later.ends()["attempts"][-1]["fence"]) == 2
    assert queued.stands == ("onhold", "maybe", "restored")
    assert [job.starts for job in (running, queued, later)] == [1, 1, 1]
    _start_again(world)
    world.doctor()


def _start_again(world: World) -> None:
    """An ordinary start is not another restore."""
    world.server.stop()
    before = len(world.server.read_log())
    assert world.start()
    assert "it counts as restored" not in world.server.read_log()[before:]


def _names(path: Path, table: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute(f"select name from {table}")]
