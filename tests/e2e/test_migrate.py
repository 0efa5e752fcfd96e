"""`belvedere migrate` with real processes: an agent and its scripts continue while the server is
stopped."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
from e2e.programs import run
from e2e.traced_job import TracedJob, start_by_trigger
from e2e.world import World


@pytest.fixture
def target(engine: str, postgres_template: str) -> Iterator[str]:
    """The value of `--to`: the other engine."""
    if engine == "postgres":
        yield "sqlite"
        return
    with engines.postgres_copy(postgres_template) as url:
        engines.empty_postgres(url)
        yield url


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    with World(tmp_path, database) as new_world:
        new_world.start()
        yield new_world


def migrate(world: World, target: str, *words: str) -> str:
    data = str(world.server.data)
    result = run("migrate", "--to", target, "--data", data, *words, **world.server.env)
    assert result.returncode == 0, result
    return result.stdout


@pytest.mark.limit(120)
def test_a_job_that_runs_across_the_stop_ends_normally(world: World, target: str) -> None:
    web = world.agent("web", "--slots", "1")
    before = TracedJob(world, web, "before").create()
    before.ends()
    running = TracedJob(world, web, "running").create().begins()
    assert "The server still uses the old database" in migrate(world, target, "--copy-only")
    queued = TracedJob(world, web, "queued").create()
    world.server.stop()
    # Its result is sent while there is no server.
    running.go_on()
    assert "checksums of all tables are equal" in migrate(world, target)
    assert not world.start()
    assert "was moved to" in world.server.read_log()
    world.server.env.pop("BELVEDERE_DATABASE", None)
    if target != "sqlite":
        world.server.env["BELVEDERE_DATABASE"] = target
    assert world.start(), world.server.read_log()
    world.wait_connected(web)
    assert running.ends()["state"] == "normal"
    assert queued.ends()["state"] == "normal"
    later = TracedJob(world, web, "later").create()
    assert later.ends()["state"] == "normal"
    assert [job.starts for job in (before, running, queued, later)] == [1, 1, 1, 1]
    assert before.record["state"] == "normal"
    assert world.api.get("/job/held")["jobs"] == []
    start_by_trigger(world, web)
    world.doctor()
    world.server.stop()
