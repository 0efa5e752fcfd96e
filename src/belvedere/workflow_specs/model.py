"""A workflow: nodes that run tasks or other workflows, and edges that say what follows."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import DAY, Millis
from belvedere.tasks.model import Retry

JsonValue = str | int | float | bool | list[Any] | dict[str, Any] | None
# An edge that is followed whatever the outcome of its source.
ALWAYS = "always"


class Join(StrEnum):
    """What a node with several sources waits for."""

    ANY = "any"
    ALL = "all"


class Position(msgspec.Struct, frozen=True):
    """Where the console draws a node."""

    x: float = 0.0
    y: float = 0.0


class StepPart(StrEnum):
    """What a step that has ended offers to later steps."""

    OUTPUT = "output"
    INPUT = "input"


class ArgumentSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an argument of a node comes from: an earlier node, or `value` if no node is named."""

    node: str = ""
    # The output of that node, or the arguments that its job got.
    part: StepPart = StepPart.OUTPUT
    index: int = 0
    # Names of members, from outside to inside, if only a part of the value is wanted.
    keys: list[str] = []
    value: JsonValue = None
    # Instead of all others: a text with values of earlier nodes, as in templates.py.
    template: str = ""


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task, or one other workflow."""

    id: str
    task_id: str = ""
    join: Join = Join.ANY
    # Runs the node again after a failure, in addition to the task's own retries.
    retry: Retry | None = None
    position: Position | None = None
    # Instead of a task. Its job is a step like any other.
    workflow_id: str = ""
    # One for each argument. Empty: the output of the step before, index by index.
    arguments: list[ArgumentSource] = []


class Edge(msgspec.Struct, frozen=True):
    """`target` starts when `source` ends with the trigger name `on`."""

    source: str
    target: str
    on: str = "success"
    # How often the edge may be followed in one job; every cycle needs an edge with such a limit.
    max_visits: int | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.max_visits is None:
            msgspec.structs.force_setattr(self, "max_visits", UNSET)

    @property
    def bound(self) -> int | None:
        return None if isinstance(self.max_visits, UnsetType) else self.max_visits


class Graph(msgspec.Struct, frozen=True):
    nodes: list[Node] = []
    edges: list[Edge] = []

    def node(self, node_id: str) -> Node:
        return next(node for node in self.nodes if node.id == node_id)

    @property
    def has_cycles(self) -> bool:
        """Whether a node may start more than once: an edge of every cycle has a limit."""
        return any(edge.bound is not None for edge in self.edges)

    @property
    def tasks(self) -> set[str]:
        return {node.task_id for node in self.nodes if node.task_id}

    @property
    def workflows(self) -> set[str]:
        return {node.workflow_id for node in self.nodes if node.workflow_id}


class WorkflowSpec(msgspec.Struct, omit_defaults=True):
    """A complete definition, stored with each version: a job keeps the graph it started with."""

    name: str = ""
    graph: Graph = Graph()
    # The node that it starts with.
    start: str = ""
    enable: bool = True
    description: str = ""
    short_description: str = ""
    icon_color: str = ""
    icon_image: str = ""
    tags: list[str] = []
    # Environment of its scripts; a task's own `env` has precedence.
    global_constants: dict[str, str] = {}
    # False: one job at a time; other jobs wait.
    multitasking: bool = True
    # How long a job of it waits to start, and for the outcome of a lost job.
    expires: Millis = 7 * DAY


class WorkflowRow(msgspec.Struct):
    """A row of `workflows`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    enabled: int
    multitasking: int
    tags: str
    version: int
    spec: str
    created_at: Millis
    updated_at: Millis


class WorkflowJobRow(msgspec.Struct):
    """A row of `workflow_jobs`: what a workflow job has in addition to other jobs."""

    job_id: str
    workflow_id: str
    version: int
    start: str
    given: str | None
    by_index: int


class StepState(StrEnum):
    OPEN = "open"
    LOST = "lost"
    ENDED = "ended"


class StepRow(msgspec.Struct):
    """One visit of a node, with its latest job."""

    workflow_job_id: str
    node_id: str
    job_id: str
    tries: int = 0
    state: str = StepState.OPEN.value
    trigger_name: str | None = None
    is_good: int = 0
    output: str | None = None
    given: str | None = None
    visit: int = 1
    # The visits whose ends started it, as JSON.
    causes: str = "[]"


decode = msgspec.json.Decoder(WorkflowSpec).decode
_encode = msgspec.json.Encoder().encode


def encode(spec: WorkflowSpec) -> str:
    return _encode(spec).decode()
