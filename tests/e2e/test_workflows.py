"""A workflow of real scripts continues while its server is killed at each of its commits."""

from pathlib import Path
from typing import Any

import pytest

from belvedere.base.ids import new_id
from belvedere.jobs.model import FINAL
from e2e.wait_until import until
from e2e.world import World

pytestmark = [pytest.mark.heavy, pytest.mark.limit(180)]
# Each line of the ledger is one run of a script.
SOURCE = '#!/bin/sh\necho "$1" >> {ledger}\nprintf \'["%s"]\\n\' "$1-{name}"\n'
EDGES = ["a-b", "a-c", "b-d", "c-d"]
# Where the server is killed, in turn: before anything else has the result, or when only the disk
# has it.
POINTS = ("advance.before_commit", "advance.after_commit", "advance.before_commit:2")


def create_workflow(world: World, ledger: Path, edges: list[str]) -> str:
    """`a-b` are edges, `b-a*2` one that may be followed twice; every node waits for all."""
    agent = world.agent("web")
    names = sorted({name for edge in edges for name in edge.partition("*")[0].split("-")})
    tasks = {
        name: world.task(SOURCE.format(ledger=ledger / name, name=name), agent, "x")
        for name in names
    }
    graph: dict[str, Any] = {
        "nodes": [{"id": name, "task_id": tasks[name], "join": "all"} for name in names],
        "edges": [_edge(edge) for edge in edges],
    }
    body = {"name": "diamond", "start": "a", "graph": graph}
    flow: str = world.api.post("/workflows", body)["id"]
    return flow


def _edge(drawn: str) -> dict[str, Any]:
    ends, _, bound = drawn.partition("*")
    source, target = ends.split("-")
    return {"source": source, "target": target, "max_visits": int(bound) if bound else None}


def died_first(world: World, job_id: str) -> bool:
    """Whether the server is killed before the workflow has ended: how many commits remain depends
    on how many ends are processed together."""

    def look() -> str:
        if world.server.dies(0):
            return "died"
        job = world._job_or_nothing(job_id)
        return "over" if job.get("lifecycle") in FINAL else ""

    return until(look, 60, lambda: world.server.read_log()[-2_000:]) == "died"


def _failpoint(point: str) -> dict[str, str]:
    return {"BELVEDERE_FAILPOINT": point} if point else {}


def run_killed(world: World, ledger: Path, edges: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """The job of such a workflow when it has ended, and its steps."""
    ledger.mkdir()
    world.start()
    flow = create_workflow(world, ledger, edges)
    world.server.stop()
    assert world.start(BELVEDERE_FAILPOINT=POINTS[0])
    headers = {"Idempotency-Key": new_id()}
    started = world.api.request("POST", f"/workflows/{flow}/job", ["v1"], headers=headers)
    job_id = started.body["id"]
    points = iter(POINTS[1:])
    deaths = 0
    while died_first(world, job_id):
        deaths += 1
        # If it is killed before it is ready, it has already continued.
        while not world.start(**_failpoint(next(points, ""))):
            deaths += 1
    assert deaths
    ended = world.wait_ended(job_id)
    return ended, world.api.get(f"/workflows/{flow}/job/{job_id}/steps")


def test_a_workflow_survives_kills(world: World, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ended, steps = run_killed(world, ledger, EDGES)
    assert (ended["lifecycle"], ended["state"]) == ("finished", "normal")
    runs = {name: (ledger / name).read_text().splitlines() for name in "abcd"}
    assert runs == {"a": ["v1"], "b": ["v1-a"], "c": ["v1-a"], "d": ["v1-a-b"]}
    assert len(steps) == len(runs)
    world.doctor()


def test_a_cycle_repeats_up_to_its_limit(world: World, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ended, steps = run_killed(world, ledger, ["a-b", "b-a*2"])
    assert (ended["lifecycle"], ended["state"]) == ("finished", "failure")
    assert "b → a (success)" in ended["reason"] and "2 visits" in ended["reason"]
    runs = {name: (ledger / name).read_text().splitlines() for name in "ab"}
    assert runs == {
        "a": ["v1", "v1-a-b", "v1-a-b-a-b"],
        "b": ["v1-a", "v1-a-b-a", "v1-a-b-a-b-a"],
    }
    items = [(step["node_id"], step["visit"]) for step in steps]
    assert items == [(name, visit) for name in "ab" for visit in (1, 2, 3)]
    world.doctor()
