"""What a workflow job gives on when it is over."""

from typing import Any

import msgspec

from belvedere.db import Tx
from belvedere.workflows import rule, steps, store
from belvedere.workflows.model import StepState
from belvedere.workflows.rule import End


def output_of(tx: Tx, workflow_job_id: str) -> list[Any]:
    """The outputs of the steps that nothing followed, one after the other as the graph has them."""
    if steps.is_forgotten(tx, workflow_job_id):
        return []
    mine = steps.workflow_job(tx, workflow_job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    ended = {
        step.node_id: step
        for step in steps.of_job(tx, workflow_job_id)
        if step.state == StepState.ENDED
    }
    ends = {
        node_id: End(step.trigger_name or "", bool(step.is_good)) for node_id, step in ended.items()
    }
    last = rule.last(graph, ends)
    return [value for node_id in last for value in values(ended[node_id].output)]


def values(output: str | None) -> list[Any]:
    found: list[Any] = msgspec.json.decode(output or "[]")
    return found
