"""Whole workflows in the database compared with the reference: random graphs, ends and orders."""

import random
from typing import Any

import pytest

from belvedere.jobs.history import consistency
from belvedere.jobs.model import JobRow
from workflows.reference import Key, Plan, ReferenceRun
from workflows.workflow_steps import WorkflowSteps

ENDS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "success": ("", {}, True),
    "failure": ("", {"code": 1}, False),
    "timeout": ("", {"ending": "timeout"}, False),
    "blue": ('{"event_name": "blue"}', {}, True),
}


def random_plan(chance: random.Random) -> Plan:
    nodes = [chr(97 + n) for n in range(chance.randint(2, 7))]
    edges = {
        (chance.choice(nodes[:n]), target, chance.choice(["success", "failure", "blue", "always"]))
        for n, target in enumerate(nodes[1:], 1)
        for _ in range(chance.randint(1, 3))
    }
    patient = {node for node in nodes[1:] if chance.random() < 0.4}
    return Plan(nodes, patient, sorted(edges))


def with_circles(chance: random.Random) -> Plan:
    """The same, and up to three edges that lead back."""
    plan = random_plan(chance)
    for _ in range(chance.randint(1, 3)):
        source = chance.randrange(len(plan.nodes))
        target = plan.nodes[chance.randint(0, source)]
        edge = (plan.nodes[source], target, chance.choice(["success", "failure", "always"]))
        plan.bounds[edge] = chance.randint(1, 3)
    plan.edges += sorted(plan.bounds)
    plan.patient |= {"a"} if chance.random() < 0.5 else set()
    return plan


def text_of(plan: Plan) -> str:
    return " ".join(
        f"{'-'.join(edge[:2])}:{edge[2]}*{plan.bounds.get(edge, '')}" for edge in plan.edges
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_workflows_are_consistent(steps: WorkflowSteps, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        job, _ = play(steps, random_plan(chance), chance)
        names = [step.name for step in steps.steps() if step.workflow_job_id == job.id]
        assert len(names) == len(set(names)), "a node ran twice"
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []


@pytest.mark.parametrize("seed", range(6))
def test_workflows_with_cycles_are_consistent(steps: WorkflowSteps, seed: int) -> None:
    chance = random.Random(seed)
    job, walk = play(steps, with_circles(chance), chance)
    reason = steps.job(job.id).reason or ""
    assert all(f"{source} → {target} ({on})" in reason for source, target, on in walk.exhausted)
    assert bool(reason) is bool(walk.exhausted)
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []


def play(steps: WorkflowSteps, plan: Plan, chance: random.Random) -> tuple[JobRow, ReferenceRun]:
    walk = ReferenceRun(plan)
    walk.begin("a", [])
    job = steps.run(steps.flow(text_of(plan), joins=" ".join(plan.patient)))
    while not walk.is_over:
        node, event = chance.choice(sorted(walk.running)), chance.choice(list(ENDS))
        lastline, report, good = ENDS[event]
        walk.end(node, event, good)
        # A server that was stopped, one that processes an end twice, one that processes it at once.
        looks = chance.randint(0, 2) if walk.running else 1
        steps.ends(node, lastline, react=False, **report)
        if not looks and not running_visits(walk) <= stored_visits(steps, job.id):
            looks = 1
        for _ in range(looks):
            steps.react()
    assert stored_visits(steps, job.id) == set(walk.started_visits)
    state = "failure" if walk.has_failed else "normal"
    assert steps.status(job.id) == f"finished/{state}", plan
    return job, walk


def running_visits(walk: ReferenceRun) -> set[Key]:
    return {(node, walk.visits[node]) for node in walk.running}


def stored_visits(steps: WorkflowSteps, job_id: str) -> set[Key]:
    return {(step.node_id, step.visit) for step in steps.list_steps(job_id)}
