"""Whole workflows in the database against the reference: random graphs, ends and orders."""

import random
from typing import Any

import pytest

from belvedere.jobs import fold
from workflows.reference import Plan, Walk
from workflows.yard import Yard

ENDS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "success": ("", {}, True),
    "failure": ("", {"code": 1}, False),
    "timeout": ("", {"ending": "timeout"}, False),
    "blue": ('{"event_name": "blue"}', {}, True),
}


def drawn(chance: random.Random) -> Plan:
    nodes = [chr(97 + n) for n in range(chance.randint(2, 7))]
    edges = {
        (chance.choice(nodes[:n]), target, chance.choice(["success", "failure", "blue", "always"]))
        for n, target in enumerate(nodes[1:], 1)
        for _ in range(chance.randint(1, 3))
    }
    patient = {node for node in nodes[1:] if chance.random() < 0.4}
    return Plan(nodes, patient, sorted(edges))


def text_of(plan: Plan) -> str:
    return " ".join(f"{source}-{target}:{on}" for source, target, on in plan.edges)


@pytest.mark.parametrize("seed", range(6))
def test_it_works(yard: Yard, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        plan = drawn(chance)
        walk = Walk(plan)
        walk.begin("a", [])
        job = yard.run(yard.flow(text_of(plan), joins=" ".join(plan.patient)))
        while not walk.is_over:
            node, event = chance.choice(sorted(walk.running)), chance.choice(list(ENDS))
            lastline, report, good = ENDS[event]
            walk.end(node, event, good)
            # A server that was away, one that looks twice, one that looks at once.
            looks = chance.randint(0, 2) if walk.running else 1
            yard.ends(node, lastline, react=False, **report)
            if not looks and not walk.running <= taken(yard, job.id):
                looks = 1
            for _ in range(looks):
                yard.react()
        assert taken(yard, job.id) == set(walk.began)
        state = "failure" if walk.has_failed else "normal"
        assert yard.stands(job.id) == f"finished/{state}", (seed, plan)
    assert yard.db.write_now(fold.check, "", 1_000) == []


def taken(yard: Yard, job_id: str) -> set[str]:
    found = [step.name for step in yard.steps() if step.workflow_job_id == job_id]
    assert len(found) == len(set(found)), "a node ran twice"
    return set(found)
