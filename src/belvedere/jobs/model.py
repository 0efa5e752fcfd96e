"""Jobs: their columns, lifecycles and states, and the table of allowed transitions. Pure."""

from enum import StrEnum
from typing import Annotated, TypeVar

import msgspec

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.base.errors import Conflict


class Lifecycle(StrEnum):
    READY = "ready"
    ASSIGNED = "assigned"
    ONHOLD = "onhold"
    SYNCING = "syncing"
    STARTED = "started"
    FINISHED = "finished"
    CANCELED = "canceled"
    TERMINATED = "terminated"
    EXPIRED = "expired"


class JobState(StrEnum):
    IN_PROGRESS = "in_progress"
    NORMAL = "normal"
    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    CANCELED = "canceled"
    ERROR = "error"
    LOST = "lost"


FINAL = frozenset({Lifecycle.FINISHED, Lifecycle.CANCELED, Lifecycle.TERMINATED, Lifecycle.EXPIRED})
OPEN = tuple(sorted(set(Lifecycle) - FINAL))
# The condition of the index jobs_open: SQLite uses that index only if a query repeats the condition
# literally, and reads the whole history otherwise. A job has ended_at exactly if its lifecycle is
# final.
IS_OPEN = "ended_at is null"

# The reason of a job on hold that may have run after the backup from which the database was
# restored: it runs only after an admin releases it, or after its host proves that it did not run.
RESTORED = "restored"

# The reason of a job that a person put on hold; anyone who may run it can release it.
HELD = "held"

# The type of a job that runs a workflow; its steps are separate jobs.
WORKFLOW = "WorkflowJob"
# The type of a job that waits for an approval or a rejection.
APPROVAL = "ApprovalJob"

DEFAULT_TIMEOUT: Millis = 10 * MINUTE
# After its deadline a job waits this long for its agent before it counts as lost.
LOST_AFTER: Millis = 60 * SECOND
# The jobs of an agent that is silent for this long are marked as unreachable; they do not end.
UNREACHABLE_AFTER: Millis = 30 * SECOND

_END_STATES = (JobState.NORMAL, JobState.SUCCESS, JobState.FAILURE)


class Transition(msgspec.Struct, frozen=True):
    """One allowed change of the lifecycle: what causes it, from which to which."""

    trigger: str
    before: Lifecycle
    after: Lifecycle
    states: tuple[JobState, ...]


# Every change of a job's lifecycle is a row here; the table job_moves repeats the pairs as a guard.
TRANSITIONS = (
    Transition("assign", Lifecycle.READY, Lifecycle.ASSIGNED, (JobState.IN_PROGRESS,)),
    Transition("finish", Lifecycle.ASSIGNED, Lifecycle.FINISHED, (*_END_STATES, JobState.ERROR)),
    Transition(
        "finish", Lifecycle.ASSIGNED, Lifecycle.TERMINATED, (JobState.TIMEOUT, JobState.CANCELED)
    ),
    Transition("retry", Lifecycle.ASSIGNED, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    Transition("return", Lifecycle.ASSIGNED, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    Transition("return", Lifecycle.ASSIGNED, Lifecycle.CANCELED, (JobState.CANCELED,)),
    Transition("lose", Lifecycle.ASSIGNED, Lifecycle.TERMINATED, (JobState.LOST,)),
    Transition(
        "reconcile",
        Lifecycle.TERMINATED,
        Lifecycle.FINISHED,
        (*_END_STATES, JobState.ERROR, JobState.TIMEOUT, JobState.CANCELED),
    ),
    Transition("resolve", Lifecycle.ASSIGNED, Lifecycle.FINISHED, _END_STATES),
    Transition("resolve", Lifecycle.TERMINATED, Lifecycle.FINISHED, _END_STATES),
    Transition("cancel", Lifecycle.READY, Lifecycle.CANCELED, (JobState.CANCELED,)),
    Transition("cancel", Lifecycle.ONHOLD, Lifecycle.CANCELED, (JobState.CANCELED,)),
    Transition("cancel", Lifecycle.SYNCING, Lifecycle.CANCELED, (JobState.CANCELED,)),
    Transition("expire", Lifecycle.READY, Lifecycle.EXPIRED, (JobState.CANCELED,)),
    Transition("expire", Lifecycle.ONHOLD, Lifecycle.EXPIRED, (JobState.CANCELED,)),
    Transition("expire", Lifecycle.SYNCING, Lifecycle.EXPIRED, (JobState.CANCELED,)),
    Transition("approve", Lifecycle.ONHOLD, Lifecycle.FINISHED, (JobState.SUCCESS,)),
    Transition("reject", Lifecycle.ONHOLD, Lifecycle.FINISHED, (JobState.FAILURE,)),
    Transition("input", Lifecycle.ONHOLD, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    Transition("input", Lifecycle.ONHOLD, Lifecycle.FINISHED, (JobState.SUCCESS,)),
    Transition("sync", Lifecycle.SYNCING, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    # By a person, or after the database was restored: it may have run since the backup.
    Transition("hold", Lifecycle.READY, Lifecycle.ONHOLD, (JobState.IN_PROGRESS,)),
    Transition("release", Lifecycle.ONHOLD, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    Transition("resolve", Lifecycle.ONHOLD, Lifecycle.FINISHED, _END_STATES),
    # Workflow jobs.
    Transition("admit", Lifecycle.ONHOLD, Lifecycle.READY, (JobState.IN_PROGRESS,)),
    Transition("start", Lifecycle.READY, Lifecycle.STARTED, (JobState.IN_PROGRESS,)),
    Transition("end", Lifecycle.STARTED, Lifecycle.FINISHED, _END_STATES),
    Transition("stop", Lifecycle.STARTED, Lifecycle.TERMINATED, (JobState.CANCELED,)),
)

# The action of each trigger, for error messages.
_ACTION_TEXTS = {
    "assign": "assigned",
    "finish": "finished",
    "retry": "retried",
    "return": "returned",
    "lose": "marked as lost",
    "reconcile": "reconciled",
    "resolve": "resolved",
    "cancel": "canceled",
    "expire": "expired",
    "approve": "approved",
    "reject": "rejected",
    "input": "given input",
    "sync": "marked as synced",
    "hold": "put on hold",
    "release": "released",
    "admit": "admitted",
    "start": "started",
    "end": "ended",
    "stop": "stopped",
}

_STATES_BY_TRANSITION: dict[tuple[str, str, str], tuple[JobState, ...]] = {
    (row.trigger, row.before, row.after): row.states for row in TRANSITIONS
}


Column = TypeVar("Column")
# Never changes after the insert. `save` writes all other columns.
Immutable = Annotated[Column, "immutable"]
# Also written by a claim, and by the report of an end. These two updates write no other columns:
# the database writes the index entries of every named column, even if its value stays the same.
AtClaim = Annotated[Column, "claim"]
AtEnd = Annotated[Column, "end"]


class JobRow(msgspec.Struct):
    """A job without its large columns. The fields are the columns of the table, in the order of
    every select and insert; a new column is one line here, with the value of a new job as its
    default, and its migration. Its mark says which updates write it."""

    id: Immutable[str]
    customer_id: Immutable[str]
    task_id: Immutable[str | None]
    task_version: Immutable[int | None]
    workflow_id: Immutable[str | None]
    workflow_job_id: Immutable[str | None]
    host_id: Immutable[str | None]
    script_id: Immutable[str | None]
    script_sha256: Immutable[str | None]
    script_filename: Immutable[str | None]
    type: Immutable[str]
    name: Immutable[str]
    lifecycle: AtClaim[AtEnd[str]]
    state: AtEnd[str]
    version: AtClaim[AtEnd[int]] = 1
    fence: AtClaim[int] = 0
    attempts: AtClaim[int] = 0
    origin: Immutable[str] = ""
    user_id: Immutable[str] = ""
    username: Immutable[str] = ""
    email: Immutable[str] = ""
    notify: Immutable[int] = 0
    ran: AtEnd[str] = "no"
    reason: AtClaim[AtEnd[str | None]] = None
    trigger_name: AtEnd[str | None] = None
    timeout: int = 0
    concurrency: Immutable[int | None] = None
    not_before_at: int = 0
    expires_at: int = 0
    cancel_requested_at: int | None = None
    canceled_by: str | None = None
    unreachable_at: AtEnd[int | None] = None
    reconciled: AtEnd[int] = 0
    resolved_by: str | None = None
    restarted_from: Immutable[str | None] = None
    created_at: Immutable[int] = 0
    updated_at: AtClaim[AtEnd[int]] = 0
    assigned_at: AtClaim[int | None] = None
    started_at: AtClaim[AtEnd[int | None]] = None
    ended_at: AtEnd[int | None] = None
    deadline_at: AtClaim[int | None] = None
    # Kind, id and name of what started it, if no person did; empty for older jobs.
    started_by: Immutable[str] = ""
    # The trace context of the request that created it.
    traceparent: Immutable[str | None] = None

    @property
    def is_over(self) -> bool:
        return self.lifecycle in FINAL

    @property
    def may_have_run(self) -> str:
        """The column `ran` covers earlier attempts only; a live attempt may have started."""
        is_live = self.lifecycle == Lifecycle.ASSIGNED and self.ran == "no"
        return "maybe" if is_live else self.ran

    @property
    def is_held(self) -> bool:
        """Whether it waits because the database was restored."""
        return self.lifecycle == Lifecycle.ONHOLD and self.reason == RESTORED

    @property
    def is_lost(self) -> bool:
        return self.lifecycle == Lifecycle.TERMINATED and self.state == JobState.LOST


def check_transition(job: JobRow, trigger: str, after: Lifecycle, state: JobState) -> None:
    """Reject a change that is not in the table."""
    states = _STATES_BY_TRANSITION.get((trigger, job.lifecycle, after), ())
    only_lost = job.lifecycle == Lifecycle.TERMINATED and job.state != JobState.LOST
    if state not in states or only_lost:
        raise Conflict(
            f"The job is {job.lifecycle}; it cannot be {_ACTION_TEXTS[trigger]} now.",
            code="wrong_lifecycle",
        )
