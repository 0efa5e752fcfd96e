"""A workflow of real scripts goes on while its server is killed at every commit of it."""

from pathlib import Path
from typing import Any

import pytest

from belvedere.base.ids import new_id
from belvedere.jobs.model import FINAL
from e2e.patience import until
from e2e.world import World

pytestmark = [pytest.mark.alone, pytest.mark.limit(180)]
# Each line of the ledger is one run of a script.
SOURCE = '#!/bin/sh\necho "$1" >> {ledger}\nprintf \'["%s"]\\n\' "$1-{name}"\n'
NODES = ("a", "b", "c", "d")
EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
# Where the server dies, in turn: nobody has heard of it, or nobody but the disk.
POINTS = ("advance.before_commit", "advance.after_commit", "advance.before_commit:2")


def made(world: World, ledger: Path) -> str:
    agent = world.agent("web")
    tasks = {
        name: world.task(SOURCE.format(ledger=ledger / name, name=name), agent, "x")
        for name in NODES
    }
    nodes: list[dict[str, Any]] = [{"id": n, "task_id": tasks[n], "join": "all"} for n in NODES]
    edges = [{"source": source, "target": target} for source, target in EDGES]
    body = {"name": "diamond", "start": "a", "graph": {"nodes": nodes, "edges": edges}}
    flow: str = world.api.post("/workflows", body)["id"]
    return flow


def died_first(world: World, job_id: str) -> bool:
    """Whether the server dies before the workflow is over: how many commits are left to it
    depends on how many ends come together."""

    def look() -> str:
        if world.server.dies(0):
            return "died"
        job = world._job_or_nothing(job_id)
        return "over" if job.get("lifecycle") in FINAL else ""

    return until(look, 60, lambda: world.server.said()[-2_000:]) == "died"


def _told(point: str) -> dict[str, str]:
    return {"BELVEDERE_FAILPOINT": point} if point else {}


def test_it_works(world: World, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    world.start()
    flow = made(world, ledger)
    world.server.stop()
    assert world.start(BELVEDERE_FAILPOINT=POINTS[0])
    headers = {"Idempotency-Key": new_id()}
    started = world.api.ask("POST", f"/workflows/{flow}/job", ["v1"], headers=headers)
    job_id = started.body["id"]
    points = iter(POINTS[1:])
    deaths = 0
    while died_first(world, job_id):
        deaths += 1
        # One that dies before it is ready has already gone on.
        while not world.start(**_told(next(points, ""))):
            deaths += 1
    assert deaths
    ended = world.ended(job_id)
    assert (ended["lifecycle"], ended["state"]) == ("finished", "normal")
    runs = {name: (ledger / name).read_text().splitlines() for name in NODES}
    assert runs == {"a": ["v1"], "b": ["v1-a"], "c": ["v1-a"], "d": ["v1-a-b"]}
    steps = world.api.get(f"/workflows/{flow}/job/{job_id}/jobs")
    assert len(steps) == len(NODES)
    world.doctor()
