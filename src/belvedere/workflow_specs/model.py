"""What a workflow is: nodes that run tasks or other workflows, and edges that say what follows."""

from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import DAY, Millis
from belvedere.tasks.model import Retry

# An edge that follows every end of its source.
ALWAYS = "always"


class Join(StrEnum):
    """What a node with several sources waits for."""

    ANY = "any"
    ALL = "all"


class Position(msgspec.Struct, frozen=True):
    """Where a picture of the graph shows a node."""

    x: float = 0.0
    y: float = 0.0


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task, or one other workflow."""

    id: str
    task_id: str = ""
    join: Join = Join.ANY
    # Run it again after a bad end, beyond what the task itself retries.
    retry: Retry | None = None
    position: Position | None = None
    # Instead of a task; its job is a step like any other.
    workflow_id: str = ""


class Edge(msgspec.Struct, frozen=True):
    """`target` follows where `source` ends with the trigger name `on`."""

    source: str
    target: str
    on: str = "success"
    # So often may it be followed in one job; every circle has an edge with such a bound.
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
    def has_circles(self) -> bool:
        """Whether a node may begin again: circles need a bound."""
        return any(edge.bound is not None for edge in self.edges)

    @property
    def tasks(self) -> set[str]:
        return {node.task_id for node in self.nodes if node.task_id}

    @property
    def workflows(self) -> set[str]:
        return {node.workflow_id for node in self.nodes if node.workflow_id}


class WorkflowSpec(msgspec.Struct, omit_defaults=True):
    """A whole definition. Kept with each version: a job goes on along the graph it began with."""

    name: str = ""
    graph: Graph = Graph()
    # The node that it begins with.
    start: str = ""
    enable: bool = True
    description: str = ""
    short_description: str = ""
    icon_color: str = ""
    icon_image: str = ""
    tags: list[str] = []
    # Environment of the scripts in it; a task's own `env` wins.
    global_constants: dict[str, str] = {}
    # False: one job of it at a time, the others wait for their turn.
    multitasking: bool = True
    # How long it waits for its turn, and for the truth about a job that is lost.
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
    """A row of `workflow_jobs`: what such a job has beyond other jobs."""

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


class Step(msgspec.Struct):
    """One visit of a node, with its newest job."""

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
    # The visits whose ends let it begin, as JSON.
    causes: str = "[]"


decode = msgspec.json.Decoder(WorkflowSpec).decode
_encode = msgspec.json.Encoder().encode


def encode(spec: WorkflowSpec) -> str:
    return _encode(spec).decode()
