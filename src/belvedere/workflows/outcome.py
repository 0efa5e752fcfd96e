"""What a workflow job gives on when it is over."""

from typing import Any

import msgspec

from belvedere.db import Tx
from belvedere.workflows import rule, steps, store
from belvedere.workflows.past import visits


def output_of(tx: Tx, workflow_job_id: str) -> list[Any]:
    """The outputs of the steps that nothing followed, one after the other as the graph has them."""
    if steps.is_forgotten(tx, workflow_job_id):
        return []
    mine = steps.workflow_job(tx, workflow_job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    taken = {(step.node_id, step.visit): step for step in steps.of_job(tx, workflow_job_id)}
    last = rule.last(graph, visits(taken.values()))
    return [value for key in last for value in values(taken[key].output)]


def values(output: str | None) -> list[Any]:
    found: list[Any] = msgspec.json.decode(output or "[]")
    return found
