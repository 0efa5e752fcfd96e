"""Workflows within workflows compared with the reference: random graphs, ends, orders and
cancels."""

import random

import pytest

from belvedere.jobs.history import consistency
from belvedere.workflow_specs.model import WorkflowRow
from workflows.reference import Plan, ReferenceRun
from workflows.test_machine import ENDS, random_plan, text_of
from workflows.workflow_steps import WorkflowSteps


class NestedReference:
    """A run whose nodes may be runs of their own; those report their end like any node."""

    def __init__(self, plan: Plan, inner: dict[str, Plan]) -> None:
        self.outer, self.plans = ReferenceRun(plan), inner
        self.inner: dict[str, ReferenceRun] = {}
        self.outer.begin("a", [])
        self._open()

    def _open(self) -> None:
        for node in self.outer.running & self.plans.keys() - self.inner.keys():
            self.inner[node] = ReferenceRun(self.plans[node], self.plans[node].nodes[0])
            self.inner[node].begin(self.plans[node].nodes[0], [])

    @property
    def running(self) -> set[str]:
        inside = {leaf for node in self.inner for leaf in self.inner[node].running}
        return inside | (self.outer.running - self.inner.keys())

    @property
    def started_visits(self) -> set[str]:
        inside = {leaf for walk in self.inner.values() for leaf, _ in walk.started_visits}
        return inside | {node for node, _ in self.outer.started_visits} - self.plans.keys()

    def end(self, leaf: str, event: str, good: bool) -> None:
        node = leaf.partition(".")[0]
        walk = self.inner.get(node)
        if walk is None:
            self.outer.end(leaf, event, good)
        else:
            walk.end(leaf, event, good)
            if walk.is_over:
                failed = walk.has_failed
                self.outer.end(node, "failure" if failed else "success", not failed)
        self._open()


def random_nested(chance: random.Random) -> tuple[Plan, dict[str, Plan]]:
    plan = random_plan(chance)
    inner = {}
    for node in plan.nodes:
        if chance.random() < 0.5:
            flat = random_plan(chance)
            inner[node] = Plan(
                [f"{node}.{name}" for name in flat.nodes],
                {f"{node}.{name}" for name in flat.patient},
                [(f"{node}.{source}", f"{node}.{target}", on) for source, target, on in flat.edges],
            )
    return plan, inner


def create_workflow(steps: WorkflowSteps, plan: Plan, inner: dict[str, Plan]) -> WorkflowRow:
    flows = {
        node: steps.flow(text_of(of), joins=" ".join(of.patient)) for node, of in inner.items()
    }
    return steps.flow(text_of(plan), joins=" ".join(plan.patient), flows=flows)


def tasks_run(steps: WorkflowSteps) -> list[str]:
    """The tasks that ran."""
    return [step.name for step in steps.steps() if step.task_id is not None]


@pytest.mark.parametrize("seed", range(5))
def test_random_nested_workflows_are_consistent(steps: WorkflowSteps, seed: int) -> None:
    chance = random.Random(seed)
    plan, inner = random_nested(chance)
    nest = NestedReference(plan, inner)
    job = steps.run(create_workflow(steps, plan, inner))
    while nest.running:
        leaf, event = chance.choice(sorted(nest.running)), chance.choice(list(ENDS))
        lastline, report, good = ENDS[event]
        nest.end(leaf, event, good)
        steps.ends(leaf, lastline, **report)
    assert sorted(tasks_run(steps)) == sorted(nest.started_visits), (seed, plan, inner)
    state = "failure" if nest.outer.has_failed else "normal"
    assert steps.status(job.id) == f"finished/{state}", (seed, plan, inner)
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_cancel_at_any_moment_leaves_nothing_open(steps: WorkflowSteps, seed: int) -> None:
    chance = random.Random(seed)
    plan, inner = random_nested(chance)
    nest = NestedReference(plan, inner)
    job = steps.run(create_workflow(steps, plan, inner))
    for _ in range(chance.randint(0, 6)):
        if not len(nest.running) > 1:
            break
        leaf = chance.choice(sorted(nest.running))
        nest.end(leaf, "success", True)
        steps.ends(leaf)
    if chance.random() < 0.5:
        steps.claim()
    before = sorted(tasks_run(steps))
    steps.cancel(job)
    steps.react()
    for step in steps.steps():
        if step.lifecycle == "assigned":
            assert step.cancel_requested_at is not None
            steps.end(step.fence, "canceled")
    steps.react()
    assert sorted(tasks_run(steps)) == before
    assert [step for step in steps.steps() if not step.is_over] == []
    assert steps.status(job.id) == "terminated/canceled"
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []
