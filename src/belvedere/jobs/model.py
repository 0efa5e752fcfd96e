"""What a job is, which moves it may make, and how an end becomes a verdict. Pure."""

from enum import StrEnum

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


class State(StrEnum):
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
# As the index jobs_open says it: SQLite uses it only where its condition is written out, and reads
# all history where not. A job has an end exactly when its lifecycle is final.
IS_OPEN = "ended_at is null"
WAITING = frozenset({Lifecycle.READY, Lifecycle.ONHOLD, Lifecycle.SYNCING})

# The reason of a job on hold that may have run after the backup from which the database was
# restored: it runs only when somebody releases it, or when its host proves that it did not run.
RESTORED = "restored"

# The type of a job that is a whole workflow; its steps are jobs of their own.
WORKFLOW = "WorkflowJob"
# The type of a job that waits for somebody's yes or no.
APPROVAL = "ApprovalJob"

DEFAULT_TIMEOUT: Millis = 10 * MINUTE
# After its deadline a job waits this long for its agent before it counts as lost.
LOST_AFTER: Millis = 60 * SECOND
# An agent silent for this long makes its jobs unreachable: a mark, not a verdict.
UNREACHABLE_AFTER: Millis = 30 * SECOND

_ENDED = (State.NORMAL, State.SUCCESS, State.FAILURE)


class Move(msgspec.Struct, frozen=True):
    """One allowed change: what makes it, from where, to where."""

    trigger: str
    before: Lifecycle
    after: Lifecycle
    states: tuple[State, ...]


# Every change of a job's lifecycle is a row here; the database repeats the pairs as its guard.
MOVES = (
    Move("assign", Lifecycle.READY, Lifecycle.ASSIGNED, (State.IN_PROGRESS,)),
    Move("finish", Lifecycle.ASSIGNED, Lifecycle.FINISHED, (*_ENDED, State.ERROR)),
    Move("finish", Lifecycle.ASSIGNED, Lifecycle.TERMINATED, (State.TIMEOUT, State.CANCELED)),
    Move("retry", Lifecycle.ASSIGNED, Lifecycle.READY, (State.IN_PROGRESS,)),
    Move("return", Lifecycle.ASSIGNED, Lifecycle.READY, (State.IN_PROGRESS,)),
    Move("return", Lifecycle.ASSIGNED, Lifecycle.CANCELED, (State.CANCELED,)),
    Move("lose", Lifecycle.ASSIGNED, Lifecycle.TERMINATED, (State.LOST,)),
    Move(
        "reconcile",
        Lifecycle.TERMINATED,
        Lifecycle.FINISHED,
        (*_ENDED, State.ERROR, State.TIMEOUT, State.CANCELED),
    ),
    Move("resolve", Lifecycle.ASSIGNED, Lifecycle.FINISHED, _ENDED),
    Move("resolve", Lifecycle.TERMINATED, Lifecycle.FINISHED, _ENDED),
    Move("cancel", Lifecycle.READY, Lifecycle.CANCELED, (State.CANCELED,)),
    Move("cancel", Lifecycle.ONHOLD, Lifecycle.CANCELED, (State.CANCELED,)),
    Move("cancel", Lifecycle.SYNCING, Lifecycle.CANCELED, (State.CANCELED,)),
    Move("expire", Lifecycle.READY, Lifecycle.EXPIRED, (State.CANCELED,)),
    Move("expire", Lifecycle.ONHOLD, Lifecycle.EXPIRED, (State.CANCELED,)),
    Move("expire", Lifecycle.SYNCING, Lifecycle.EXPIRED, (State.CANCELED,)),
    Move("approve", Lifecycle.ONHOLD, Lifecycle.FINISHED, (State.SUCCESS,)),
    Move("reject", Lifecycle.ONHOLD, Lifecycle.FINISHED, (State.FAILURE,)),
    Move("input", Lifecycle.ONHOLD, Lifecycle.READY, (State.IN_PROGRESS,)),
    Move("input", Lifecycle.ONHOLD, Lifecycle.FINISHED, (State.SUCCESS,)),
    Move("sync", Lifecycle.SYNCING, Lifecycle.READY, (State.IN_PROGRESS,)),
    # After the database was restored: it may have run since the backup.
    Move("hold", Lifecycle.READY, Lifecycle.ONHOLD, (State.IN_PROGRESS,)),
    Move("release", Lifecycle.ONHOLD, Lifecycle.READY, (State.IN_PROGRESS,)),
    Move("resolve", Lifecycle.ONHOLD, Lifecycle.FINISHED, _ENDED),
    # Workflow jobs.
    Move("admit", Lifecycle.ONHOLD, Lifecycle.READY, (State.IN_PROGRESS,)),
    Move("start", Lifecycle.READY, Lifecycle.STARTED, (State.IN_PROGRESS,)),
    Move("end", Lifecycle.STARTED, Lifecycle.FINISHED, _ENDED),
    Move("stop", Lifecycle.STARTED, Lifecycle.TERMINATED, (State.CANCELED,)),
)

# What is done to a job by each trigger, for people.
_DONE = {
    "assign": "assigned",
    "finish": "finished",
    "retry": "tried again",
    "return": "returned",
    "lose": "given up",
    "reconcile": "reconciled",
    "resolve": "resolved",
    "cancel": "canceled",
    "expire": "expired",
    "approve": "approved",
    "reject": "rejected",
    "input": "given input",
    "sync": "marked as synced",
    "hold": "held",
    "release": "released",
    "admit": "admitted",
    "start": "started",
    "end": "ended",
    "stop": "stopped",
}

_TABLE: dict[tuple[str, str, str], tuple[State, ...]] = {
    (row.trigger, row.before, row.after): row.states for row in MOVES
}


class JobRow(msgspec.Struct):
    """A job without its large columns, in the order of the select."""

    id: str
    customer_id: str
    task_id: str | None
    task_version: int | None
    workflow_id: str | None
    workflow_job_id: str | None
    host_id: str | None
    script_id: str | None
    script_sha256: str | None
    script_filename: str | None
    type: str
    name: str
    lifecycle: str
    state: str
    version: int
    fence: int
    attempts: int
    origin: str
    user_id: str
    username: str
    email: str
    notify: int
    ran: str
    reason: str | None
    trigger_name: str | None
    timeout: int
    concurrency: int | None
    not_before_at: int
    expires_at: int
    cancel_requested_at: int | None
    canceled_by: str | None
    unreachable_at: int | None
    reconciled: int
    resolved_by: str | None
    restarted_from: str | None
    created_at: int
    updated_at: int
    assigned_at: int | None
    started_at: int | None
    ended_at: int | None
    deadline_at: int | None

    @property
    def is_over(self) -> bool:
        return self.lifecycle in FINAL

    @property
    def may_have_run(self) -> str:
        """`ran` holds what is certain about earlier attempts; a live one may have started."""
        is_live = self.lifecycle == Lifecycle.ASSIGNED and self.ran == "no"
        return "maybe" if is_live else self.ran

    @property
    def is_held(self) -> bool:
        """Whether it waits because the database was restored."""
        return self.lifecycle == Lifecycle.ONHOLD and self.reason == RESTORED

    @property
    def is_lost(self) -> bool:
        return self.lifecycle == Lifecycle.TERMINATED and self.state == State.LOST


def check_move(job: JobRow, trigger: str, after: Lifecycle, state: State) -> None:
    """Refuse a change that the table does not hold."""
    states = _TABLE.get((trigger, job.lifecycle, after), ())
    only_lost = job.lifecycle == Lifecycle.TERMINATED and job.state != State.LOST
    if state not in states or only_lost:
        raise Conflict(
            f"The job is {job.lifecycle}; it cannot be {_DONE[trigger]} now.",
            code="wrong_lifecycle",
        )
