"""Ledger, interface and events side by side: whatever they say of a job must be one story."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belvedere.base.clock import Millis, parse_iso
from e2e import ledger
from e2e.caller import JobAttempt
from e2e.ledger import Run
from e2e.world import World

Job = dict[str, Any]
# A death is noted a moment after it happened, on a busy machine a long one.
SLACK: Millis = 2_000


@dataclass(frozen=True)
class Evidence:
    """When keepers died, by host id: only then may a job be lost."""

    keepers: dict[str, list[Millis]]

    def explains(self, job: Job) -> bool:
        """A keeper died while the job was in its hands."""
        begin, end = parse_iso(job["assigned_at"]), parse_iso(job["ended_at"])
        deaths = self.keepers.get(job["host_id"], ())
        return any(begin - SLACK <= died_at <= end + SLACK for died_at in deaths)


def check(world: World, asked: list[JobAttempt], path: Path, evidence: Evidence) -> Counter[str]:
    """How many jobs ended how; an assertion tells the first one whose story does not hold."""
    runs = ledger.read(path)
    job_ids = {each.job_id for each in asked}
    assert len(job_ids) == len(asked), "one job answers for two keys"
    assert not world.api.get("/schedule"), "a schedule starts jobs that nobody requested"
    stored = {job["id"] for job in all_jobs(world)}
    assert stored == job_ids, f"only stored: {stored - job_ids}; only requested: {job_ids - stored}"
    assert set(runs) <= job_ids
    ends: Counter[str] = Counter()
    for each in asked:
        job = world.job(each.job_id)
        ends[f"{job['lifecycle']}/{job['state']}"] += 1
        _check(world, each, job, runs.get(each.job_id, []), evidence)
    return ends


def all_jobs(world: World) -> list[Job]:
    return world.api.read_list("/job", {"limit": 1_000})


def _check(world: World, asked: JobAttempt, job: Job, runs: list[Run], evidence: Evidence) -> None:
    pair = (asked, job, runs)
    fences = [attempt["fence"] for attempt in job["attempts"] if attempt["state"] != "returned"]
    ran = [run.fence for run in runs]
    assert len(fences) <= 1 + asked.retries, pair
    # Each attempt at most once, and nothing that is no attempt.
    assert ran == [fence for fence in fences if fence in ran], pair
    if job["ran"] == "no":
        assert not runs, pair
    match job["lifecycle"], job["state"]:
        case "finished", "normal" | "failure":
            assert ran[-1:] == fences[-1:] and job["ran"] == "yes", pair
            assert job["result"]["code"] == asked.code, pair
            assert (job["state"] == "failure") == (asked.code != 0), pair
            _check_output(world, asked, job)
        case "canceled", "canceled":
            # Before its first attempt, or while it waited for another.
            assert asked.wants_cancel and (asked.retries or job["ran"] == "no"), pair
        case "terminated", "canceled":
            assert asked.wants_cancel, pair
        case "terminated", "lost":
            # Of a job with several attempts an earlier one may have run for certain.
            assert job["ran"] == "maybe" or (asked.retries and job["ran"] == "yes"), pair
            assert job["reason"] == "keeper_lost" and evidence.explains(job), pair
        case _:
            raise AssertionError(pair)


def _check_output(world: World, asked: JobAttempt, job: Job) -> None:
    expected, result = ledger.output(asked.lines), job["result"]
    assert result["log_bytes"] == len(expected), job
    assert result["log_sha256"] == ledger.digest(expected), job
    assert world.log(job["id"]) == expected, job
