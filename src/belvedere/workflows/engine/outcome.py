"""What a workflow job gives on when it is over."""

from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx
from belvedere.workflow_specs import store
from belvedere.workflows.engine import rule, step_store
from belvedere.workflows.engine.visits import visits


def output_of(tx: Tx, workflow_job_id: str) -> list[Any]:
    """The outputs of the steps that nothing followed, one after the other as the graph has them."""
    if step_store.is_forgotten(tx, workflow_job_id):
        return []
    mine = step_store.workflow_job(tx, workflow_job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    taken = {(step.node_id, step.visit): step for step in step_store.of_job(tx, workflow_job_id)}
    last = rule.last(graph, visits(taken.values()))
    customer_id = tx.value("select customer_id from jobs where id = ?", workflow_job_id)
    return [value for key in last for value in values(tx, customer_id, taken[key].output)]


def values(tx: Tx, customer_id: str, output: str | None) -> list[Any]:
    """What a step gave on, in clear."""
    about = sealed_values.about_values(customer_id)
    found = msgspec.json.decode(sealed_values.open_text(tx, about, output or "[]", "[]"))
    return sealed_values.open_values(tx.sealer, customer_id, found)
