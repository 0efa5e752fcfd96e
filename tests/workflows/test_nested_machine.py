"""Workflows within workflows against the reference: random graphs, ends, orders and cancels."""

import random

import pytest

from belvedere.jobs.history import consistency
from belvedere.workflow_specs.model import WorkflowRow
from workflows.reference import Plan, Walk
from workflows.test_machine import ENDS, drawn, text_of
from workflows.workflow_steps import Yard


class Nest:
    """A walk whose nodes may be walks of their own; those tell their end like any node."""

    def __init__(self, plan: Plan, inner: dict[str, Plan]) -> None:
        self.outer, self.plans = Walk(plan), inner
        self.inner: dict[str, Walk] = {}
        self.outer.begin("a", [])
        self._open()

    def _open(self) -> None:
        for node in self.outer.running & self.plans.keys() - self.inner.keys():
            self.inner[node] = Walk(self.plans[node], self.plans[node].nodes[0])
            self.inner[node].begin(self.plans[node].nodes[0], [])

    @property
    def running(self) -> set[str]:
        inside = {leaf for node in self.inner for leaf in self.inner[node].running}
        return inside | (self.outer.running - self.inner.keys())

    @property
    def began(self) -> set[str]:
        inside = {leaf for walk in self.inner.values() for leaf, _ in walk.began}
        return inside | {node for node, _ in self.outer.began} - self.plans.keys()

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


def nested(chance: random.Random) -> tuple[Plan, dict[str, Plan]]:
    plan = drawn(chance)
    inner = {}
    for node in plan.nodes:
        if chance.random() < 0.5:
            flat = drawn(chance)
            inner[node] = Plan(
                [f"{node}.{name}" for name in flat.nodes],
                {f"{node}.{name}" for name in flat.patient},
                [(f"{node}.{source}", f"{node}.{target}", on) for source, target, on in flat.edges],
            )
    return plan, inner


def made(yard: Yard, plan: Plan, inner: dict[str, Plan]) -> WorkflowRow:
    flows = {node: yard.flow(text_of(of), joins=" ".join(of.patient)) for node, of in inner.items()}
    return yard.flow(text_of(plan), joins=" ".join(plan.patient), flows=flows)


def ran(yard: Yard) -> list[str]:
    """The tasks that ran."""
    return [step.name for step in yard.steps() if step.task_id is not None]


@pytest.mark.parametrize("seed", range(5))
def test_it_works(yard: Yard, seed: int) -> None:
    chance = random.Random(seed)
    plan, inner = nested(chance)
    nest = Nest(plan, inner)
    job = yard.run(made(yard, plan, inner))
    while nest.running:
        leaf, event = chance.choice(sorted(nest.running)), chance.choice(list(ENDS))
        lastline, report, good = ENDS[event]
        nest.end(leaf, event, good)
        yard.ends(leaf, lastline, **report)
    assert sorted(ran(yard)) == sorted(nest.began), (seed, plan, inner)
    state = "failure" if nest.outer.has_failed else "normal"
    assert yard.stands(job.id) == f"finished/{state}", (seed, plan, inner)
    assert yard.db.write_blocking(consistency.check, "", 1_000) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_cancel_at_any_moment_leaves_nothing_open(yard: Yard, seed: int) -> None:
    chance = random.Random(seed)
    plan, inner = nested(chance)
    nest = Nest(plan, inner)
    job = yard.run(made(yard, plan, inner))
    for _ in range(chance.randint(0, 6)):
        if not len(nest.running) > 1:
            break
        leaf = chance.choice(sorted(nest.running))
        nest.end(leaf, "success", True)
        yard.ends(leaf)
    if chance.random() < 0.5:
        yard.claim()
    before = sorted(ran(yard))
    yard.cancel(job)
    yard.react()
    for step in yard.steps():
        if step.lifecycle == "assigned":
            assert step.cancel_requested_at is not None
            yard.end(step.fence, "canceled")
    yard.react()
    assert sorted(ran(yard)) == before
    assert [step for step in yard.steps() if not step.is_over] == []
    assert yard.stands(job.id) == "terminated/canceled"
    assert yard.db.write_blocking(consistency.check, "", 1_000) == []
