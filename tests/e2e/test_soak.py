"""A server that works for a long time does not grow: memory, descriptors, threads, write-ahead
log."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.process_samples import MIB, Sample, measure_growth, take_sample
from e2e.world import World

# Output, so that the log store works too.
SCRIPT = "#!/bin/sh\nseq 1 2000\n"
BATCH = 8
# Before the first sample: connections, caches and the pool of threads fill up.
WARM_UP_BATCHES = 10
QUICK_SAMPLES, LONG_SAMPLES, LONG_INTERVAL_S = 20, 60, 60.0
# Added from the first sample to the last. SQLite itself limits each of the two write-ahead logs to
# a checkpoint of 4 MiB, but a machine that is busy for seconds delays a checkpoint, and the file
# keeps the step. Without checkpoints an hour would add gigabytes.
# Readers of the two files start when they are first needed, with a thread and connections each, so
# that a short run may still add some; something that stays for every job is far above these limits.
QUICK_LIMITS = {"memory": 32 * MIB, "descriptors": 24, "threads": 10, "wal": 12 * MIB}
LONG_LIMITS = {"memory": 16 * MIB, "descriptors": 3, "threads": 2, "wal": 8 * MIB}


@pytest.fixture
def world(database: str, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, database) as new_world:
        new_world.start()
        yield new_world


@pytest.mark.heavy
@pytest.mark.limit(120)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_resources_stay_flat_under_load(world: World) -> None:
    """On the engine that has a write-ahead log of its own."""
    _check(_soak(world, QUICK_SAMPLES, 0.0), QUICK_LIMITS)


@pytest.mark.prove
@pytest.mark.heavy
@pytest.mark.limit(5_400)
def test_the_soak_test_passes_for_an_hour(world: World) -> None:
    _check(_soak(world, LONG_SAMPLES, LONG_INTERVAL_S), LONG_LIMITS)


def test_growth_is_the_slope_over_the_whole_run() -> None:
    samples = [Sample(100 + 5 * number, 7, number % 2, 0) for number in range(11)]
    growth = measure_growth(samples)
    assert growth["memory"] == pytest.approx(50)
    assert growth["descriptors"] == growth["wal"] == 0
    assert abs(growth["threads"]) < 0.5


def _soak(world: World, count: int, interval_s: float) -> list[Sample]:
    """So many samples, each after at least one batch of jobs."""
    web = world.agent("web")
    task_id = world.task(SCRIPT, web, history={"count": 50, "days": 90})
    for _ in range(WARM_UP_BATCHES):
        _run_batch(world, task_id)
    samples = []
    for _ in range(count):
        next_at = time.monotonic() + interval_s
        _run_batch(world, task_id)
        while time.monotonic() < next_at:
            _run_batch(world, task_id)
        samples.append(take_sample(world.server.pid, world.server.data))
    return samples


def _run_batch(world: World, task_id: str) -> None:
    job_ids = [world.run(task_id) for _ in range(BATCH)]
    for job_id in job_ids:
        world.wait_ended(job_id, 60)


def _check(samples: list[Sample], limits: dict[str, int]) -> None:
    growth = measure_growth(samples)
    print(f"{len(samples)} samples; growth {growth}; last {samples[-1]}")
    print(f"write-ahead logs: {[sample.wal for sample in samples]}")
    assert {name: value for name, value in growth.items() if value > limits[name]} == {}, samples
