"""What a new organization has done so far: the checklist of the dashboard."""

from collections.abc import Collection

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.customers import service as customers
from belvedere.base.clock import DAY
from belvedere.db import Tx, installation

# An organization that is older has found its way; an upgrade does not show it the list.
MAX_AGE = 30 * DAY
# At most this many of the oldest and of the newest jobs are searched for one of a person.
MAX_JOBS = 10_000
# More than the demo has.
MAX_OBJECTS = 100
_HAS_RUN = (
    "select 1 from (select origin from jobs where customer_id = ? order by id {} limit ?) as jobs"
    " where origin = 'user' limit 1"
)
_TASKS = "select id from tasks where customer_id = ? and deleted_at is null limit ?"
_SCHEDULES = "select id from schedules where customer_id = ? limit ?"
_HOSTS = "select count(*) from hosts where customer_id = ? and deleted_at is null"
_MEMBERS = "select count(*) from members where customer_id = ? and enabled = 1"
_CHANNELS = "select id from channels where customer_id = ? and enabled = 1 limit ?"
_RULES = "select channels from rules where customer_id = ? and enabled = 1 limit ?"


class FirstStep(msgspec.Struct):
    """`name`: `run`, `task`, `schedule`, `host`, `notifications` or `people`."""

    name: str
    done: bool


class FirstSteps(msgspec.Struct):
    """`visible`: the list is shown, because a step is open and nobody has hidden it. `demo`: how
    many objects of the demo exist."""

    visible: bool
    steps: list[FirstStep]
    demo: int


class FirstStepsChange(msgspec.Struct, forbid_unknown_fields=True):
    visible: bool


def read(tx: Tx, actor: Actor, demo_ids: Collection[str]) -> FirstSteps:
    require(actor, Level.ADMIN)
    steps = [
        FirstStep("run", _has_run(tx, actor)),
        FirstStep("task", _has_own(tx, actor, _TASKS, demo_ids)),
        FirstStep("schedule", _has_own(tx, actor, _SCHEDULES, demo_ids)),
        FirstStep("host", _count(tx, actor, _HOSTS) > 1),
        FirstStep("notifications", _is_notified(tx, actor)),
        FirstStep("people", _count(tx, actor, _MEMBERS) > 1),
    ]
    is_open = not all(step.done for step in steps)
    return FirstSteps(is_open and _is_offered(tx, actor), steps, len(demo_ids))


def show(tx: Tx, actor: Actor, visible: bool) -> None:
    """Show or hide the list for the admins of this organization."""
    require(actor, Level.ADMIN)
    if visible:
        installation.delete(tx, _hidden_name(actor))
    else:
        installation.write(tx, _hidden_name(actor), "hidden")


def _hidden_name(actor: Actor) -> str:
    return f"first_steps:{actor.customer_id}"


def _is_offered(tx: Tx, actor: Actor) -> bool:
    age = tx.now - customers.find(tx, actor.customer_id).created_at
    return age < MAX_AGE and installation.read(tx, _hidden_name(actor)) is None


def _has_run(tx: Tx, actor: Actor) -> bool:
    """Whether a person has started a job: the demo's schedule does not count."""
    return any(
        tx.value(_HAS_RUN.format(order), actor.customer_id, MAX_JOBS) is not None
        for order in ("asc", "desc")
    )


def _has_own(tx: Tx, actor: Actor, statement: str, demo_ids: Collection[str]) -> bool:
    rows = tx.rows(statement, actor.customer_id, MAX_OBJECTS)
    return any(object_id not in demo_ids for (object_id,) in rows)


def _count(tx: Tx, actor: Actor, statement: str) -> int:
    return int(tx.value(statement, actor.customer_id))


def _is_notified(tx: Tx, actor: Actor) -> bool:
    """Whether an enabled rule leads to an enabled channel."""
    channels = {id_ for (id_,) in tx.rows(_CHANNELS, actor.customer_id, MAX_OBJECTS)}
    rules = tx.rows(_RULES, actor.customer_id, MAX_OBJECTS)
    return any(channels & set(msgspec.json.decode(ids, type=list[str])) for (ids,) in rules)
