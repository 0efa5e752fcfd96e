"""Compares what scripts recorded, the API and the events: they must agree about every job."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belvedere.base.clock import Millis, parse_iso
from e2e import ledger, unrequested_jobs
from e2e.caller import JobAttempt
from e2e.ledger import Run
from e2e.world import World

Job = dict[str, Any]
# The end of a process is recorded a moment after it happened, on a busy machine much later.
SLACK: Millis = 2_000


@dataclass(frozen=True)
class Evidence:
    """When keepers died, by host id: only then may a job be lost."""

    keepers: dict[str, list[Millis]]

    def explains(self, job: Job) -> bool:
        """A keeper was killed while it had the job."""
        begin, end = parse_iso(job["assigned_at"]), parse_iso(job["ended_at"])
        deaths = self.keepers.get(job["host_id"], ())
        return any(begin - SLACK <= died_at <= end + SLACK for died_at in deaths)


def check(world: World, requests: list[JobAttempt], path: Path, evidence: Evidence) -> Counter[str]:
    """How many jobs ended in which state; fails for the first job whose attempts and runs do not
    match."""
    runs = ledger.read(path)
    job_ids = {attempt.job_id for attempt in requests}
    assert len(job_ids) == len(requests), "one job answers for two keys"
    assert not world.api.get("/schedule"), "a schedule starts jobs that nobody requested"
    stored = {job["id"] for job in all_jobs(world)}
    assert not job_ids - stored, f"only requested: {job_ids - stored}"
    unrequested = (stored | set(runs)) - job_ids
    assert not unrequested, unrequested_jobs.explain(world, unrequested, requests)
    ends: Counter[str] = Counter()
    for attempt in requests:
        job = world.job(attempt.job_id)
        ends[f"{job['lifecycle']}/{job['state']}"] += 1
        _check(world, attempt, job, runs.get(attempt.job_id, []), evidence)
    return ends


def all_jobs(world: World) -> list[Job]:
    return world.api.read_list("/job", {"limit": 1_000})


def _check(
    world: World, requests: JobAttempt, job: Job, runs: list[Run], evidence: Evidence
) -> None:
    pair = (requests, job, runs)
    fences = [attempt["fence"] for attempt in job["attempts"] if attempt["state"] != "returned"]
    ran = [run.fence for run in runs]
    assert len(fences) <= 1 + requests.retries, pair
    # Each attempt at most once, and no run without an attempt.
    assert ran == [fence for fence in fences if fence in ran], pair
    if job["ran"] == "no":
        assert not runs, pair
    match job["lifecycle"], job["state"]:
        case "finished", "normal" | "failure":
            assert ran[-1:] == fences[-1:] and job["ran"] == "yes", pair
            assert job["result"]["code"] == requests.code, pair
            assert (job["state"] == "failure") == (requests.code != 0), pair
            _check_output(world, requests, job)
        case "canceled", "canceled":
            # Before its first attempt, or while it waited for another.
            assert requests.wants_cancel and (requests.retries or job["ran"] == "no"), pair
        case "terminated", "canceled":
            assert requests.wants_cancel, pair
        case "terminated", "lost":
            # An earlier attempt of a job with several attempts may have run for certain.
            assert job["ran"] == "maybe" or (requests.retries and job["ran"] == "yes"), pair
            assert job["reason"] == "keeper_lost" and evidence.explains(job), pair
        case _:
            raise AssertionError(pair)


def _check_output(world: World, requests: JobAttempt, job: Job) -> None:
    expected, result = ledger.output(requests.lines), job["result"]
    assert result["log_bytes"] == len(expected), job
    assert result["log_sha256"] == ledger.digest(expected), job
    assert world.log(job["id"]) == expected, job
