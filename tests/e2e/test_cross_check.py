"""The comparison at the end of a proof explains what it finds."""

from pathlib import Path

import pytest

from e2e import cross_check
from e2e.cross_check import Evidence
from e2e.world import World

pytestmark = pytest.mark.heavy


def test_a_job_that_nobody_requested_is_explained(database: str, tmp_path: Path) -> None:
    with World(tmp_path, database) as world:
        world.start()
        task_id = world.task("#!/bin/sh\nexit 0\n", world.agent("one"))
        headers = {"Idempotency-Key": "of another client"}
        job = world.api.request("POST", "/job", {"task": task_id}, headers=headers).body
        world.wait_ended(job["id"])
        ledger = tmp_path / "ledger"
        ledger.touch()
        with pytest.raises(AssertionError) as failure:
            cross_check.check(world, [], ledger, Evidence({}))
    text = str(failure.value)
    assert (
        f"job {job['id']}: origin={job['origin']!r} started_by='token {job['user_id']} set-up'"
        in text
    )
    assert "Idempotency-Key 'of another client': principal=" in text
    assert "the client got 'no such request'" in text
    assert "job.created" in text and "job.finished" in text
