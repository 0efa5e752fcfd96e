"""What begins in a workflow job: the request for a node, and the job that could be made for it."""

from typing import Any

import msgspec

from belvedere.base.clock import Millis
from belvedere.jobs.lifecycle.create import Created, NewJob
from belvedere.jobs.model import JobRow
from belvedere.workflow_specs.model import Node, WorkflowJobRow, WorkflowRow
from belvedere.workflows.engine.visits import Key


class Of(msgspec.Struct):
    """What of a workflow job its steps carry."""

    id: str
    workflow_id: str | None
    customer_id: str
    user_id: str
    username: str
    email: str
    # How many workflows it runs within, itself counted.
    depth: int = 1
    # Who counts as having started it, where no person did.
    starters: tuple[str, ...] = ()


class Wanted(msgspec.Struct):
    """A node that is to begin, in the name of who started it all."""

    of: Of | JobRow
    node: Node
    given: list[Any]
    origin: str = "workflow"
    by_index: bool = True
    # As of a job that is tried again: its values, and the version that they were fitted to.
    kept: tuple[int | None, str] | None = None
    restarted_from: str | None = None
    delay: Millis = 0
    # Which visit of the node it is, and the visits whose ends let it begin.
    visit: int = 1
    causes: tuple[Key, ...] = ()


class Run(msgspec.Struct):
    """A job of a workflow, checked and not yet written. Without a first step it has failed."""

    job: JobRow
    row: WorkflowRow
    mine: WorkflowJobRow
    first: "Child | None" = None


class Child(msgspec.Struct):
    """A job for a node, checked and not yet written: of its task, or of its workflow."""

    wanted: Wanted
    task: tuple[NewJob, Created] | None = None
    run: Run | None = None

    @property
    def job(self) -> JobRow:
        if self.run is not None:
            return self.run.job
        assert self.task is not None
        return self.task[1].job
