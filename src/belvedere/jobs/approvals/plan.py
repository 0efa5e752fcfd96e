"""Approval plans: the tasks that an approval allows to run, stored when it is requested and
compared with the current definitions before they run."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.errors import Conflict, Invalid
from belvedere.base.text.credentials import mask_value, replace_in_text
from belvedere.db import Sealer, Tx
from belvedere.jobs.model import JobRow
from belvedere.tasks.definition import argument_values as arguments
from belvedere.tasks.model import MASK, TaskSpec
from belvedere.tasks.store import Runnable, runnable
from belvedere.triggers import store
from belvedere.triggers.store import Trigger

# How a keyed hash begins. Earlier versions wrote the plain SHA-256.
KEYED = "hmac-sha256:"
# Fields that do not change what runs; all other fields of a definition do.
_IMMATERIAL = frozenset(
    {"name", "description", "short_description", "icon_color", "icon_image", "tags", "enable"}
    | {"history", "notify", "show_result", "concurrency", "output_parameters"}
)


class PlannedTask(msgspec.Struct, omit_defaults=True):
    """One task that runs after the approval."""

    task_id: str
    name: str
    type: str
    task_version: int
    # Keyed hash of everything that decides what runs; if it changes, the approval is void.
    digest: str
    # The node of the approval's own workflow, else null.
    node_id: str | None = None
    # The workflow that it runs in and its version, if that is another workflow: one that a trigger
    # or the node starts.
    workflow_id: str | None = None
    workflow_version: int | None = None
    host_id: str | None = None
    hostname: str | None = None
    script_id: str | None = None
    script_filename: str | None = None
    script_sha256: str | None = None
    script_runas: str = ""
    os_user: str = ""
    url: str = ""
    # Null: they come from the step before it.
    arguments: list[Any] | None = None

    @property
    def objects(self) -> set[str]:
        object_ids = (self.task_id, self.workflow_id, self.host_id, self.script_id)
        return {object_id for object_id in object_ids if object_id}


Plan = list[PlannedTask]
_plan = msgspec.json.Decoder(Plan).decode


def decode(tx: Tx, text: str) -> Plan:
    """Plans of older versions may contain credentials in a URL, and a plain hash, which allows
    guessing a secret."""
    return [
        msgspec.structs.replace(
            task, url=replace_in_text(task.url, mask_value), digest=keyed(tx.sealer, task.digest)
        )
        for task in _plan(text)
    ]


def keyed(sealer: Sealer | None, plain: str) -> str:
    """The hash as it is shown and compared; a keyed hash stays the same."""
    if sealer is None or plain.startswith(KEYED):
        return plain
    return KEYED + sealer.digest(f"plan {plain}")


# `where` are node_id, workflow_id and workflow_version of PlannedTask.
def plan_task(
    tx: Tx, task: Runnable, values: Sequence[Any] | None, hidden: Collection[int] = (), **where: Any
) -> PlannedTask:
    """The task as it would run now; `hidden` are positions of values that nobody may see."""
    return PlannedTask(
        task.id,
        task.name,
        task.type,
        task.version,
        keyed(tx.sealer, _digest(task)),
        host_id=task.host_id,
        hostname=task.hostname,
        script_id=task.script_id,
        script_filename=task.script_filename,
        script_sha256=task.script_sha256,
        script_runas=task.spec.script_runas,
        os_user=task.spec.os_user,
        url=replace_in_text(task.spec.url, mask_value),
        arguments=None if values is None else _masked_arguments(task.spec, values, hidden),
        **where,
    )


def _digest(task: Runnable) -> str:
    fields = msgspec.to_builtins(task.spec)
    material = {name: value for name, value in fields.items() if name not in _IMMATERIAL}
    material["script"] = [task.script_sha256, task.script_filename]
    text = msgspec.json.encode(material, order="sorted")
    return hashlib.sha256(text).hexdigest()


def _masked_arguments(
    spec: TaskSpec, values: Sequence[Any], hidden: Collection[int]
) -> list[Any] | None:
    try:
        fitted = arguments.fit(spec.task_arguments, values, by_index=True)
    except Invalid:
        # The job will wait for input, or fail to start with a reason.
        return None
    plain = [value if isinstance(value, str) else {"filename": value.filename} for value in fitted]
    masked_values = arguments.mask_values(spec.task_arguments, plain)
    return [MASK if position in hidden else value for position, value in enumerate(masked_values)]


def write(tx: Tx, job: JobRow, spec: TaskSpec, values: str, workflow_plan: Plan) -> Plan:
    """Store what this approval allows: the next tasks of its workflow, and those it triggers."""
    tasks = [*workflow_plan, *_triggered(tx, job, spec, clear_values(tx, job, values))]
    text = msgspec.json.encode(tasks).decode()
    tx.execute("insert into approvals (job_id, plan) values (?, ?)", job.id, text)
    objects = sorted({object_id for task in tasks for object_id in task.objects})
    tx.execute_many(
        "insert into approval_objects (object_id, job_id) values (?, ?)",
        [(object_id, job.id) for object_id in objects],
    )
    return tasks


def clear_values(tx: Tx, job: JobRow, values: str) -> list[Any]:
    """The stored values of a job, decrypted. Only for texts from the database: a sealed value in a
    request is never opened, because it may come from a stolen backup."""
    return sealed_values.open_values(tx.sealer, job.customer_id, msgspec.json.decode(values))


def for_job(tx: Tx, job_id: str) -> Plan:
    text = tx.value("select plan from approvals where job_id = ?", job_id)
    return [] if text is None else decode(tx, text)


def masked_positions(spec: TaskSpec) -> frozenset[int]:
    """Positions of the values that an approval passes on without showing them."""
    return frozenset(
        position for position, argument in enumerate(spec.task_arguments) if argument.masked
    )


def _triggered(tx: Tx, job: JobRow, spec: TaskSpec, values: list[Any]) -> Plan:
    """The tasks that the event `success` of the approval's task triggers."""
    triggers = store.for_source(tx, job.customer_id, "task", job.task_id or "", "success")
    tasks: Plan = []
    for trigger in triggers:
        tasks += _for_target(tx, job.customer_id, trigger, values, masked_positions(spec))
    return tasks


def _for_target(
    tx: Tx, customer_id: str, trigger: Trigger, values: list[Any], hidden: Collection[int] = ()
) -> Plan:
    if trigger.target == "workflow":
        return for_workflow(tx, customer_id, trigger.target_id)
    task = runnable(tx, customer_id, trigger.target_id)
    return [] if task is None else [plan_task(tx, task, values, hidden)]


def for_workflow(tx: Tx, customer_id: str, workflow_id: str, node_id: str | None = None) -> Plan:
    """Its tasks, and those of its nested workflows."""
    tasks: Plan = []
    pending, visited = [workflow_id], {workflow_id}
    while pending:
        current_id = pending.pop(0)
        tasks += _for_one_workflow(tx, customer_id, current_id, node_id)
        rows = tx.rows(
            "select part_id from workflow_parts where workflow_id = ? order by part_id", current_id
        )
        pending += [part_id for (part_id,) in rows if part_id not in visited]
        visited.update(pending)
    return tasks


def _for_one_workflow(tx: Tx, customer_id: str, workflow_id: str, node_id: str | None) -> Plan:
    rows = tx.rows(
        "select w.version, u.task_id from workflows w join workflow_tasks u on u.workflow_id = w.id"
        " where w.id = ? and w.customer_id = ? and w.deleted_at is null order by u.task_id",
        workflow_id,
        customer_id,
    )
    where: dict[str, Any] = {"node_id": node_id, "workflow_id": workflow_id}
    tasks = [(version, runnable(tx, customer_id, task_id)) for version, task_id in rows]
    return [
        plan_task(tx, task, None, workflow_version=version, **where)
        for version, task in tasks
        if task is not None
    ]


def find_changes(tx: Tx, job: JobRow, spec: TaskSpec) -> list[str]:
    """What has changed since the approval was requested, in words; empty: it may be approved."""
    approved = for_job(tx, job.id)
    changes = []
    for task in approved:
        if task.node_id is not None:
            changes += _workflow_changes(tx, job.customer_id, task)
            changes += differences(tx, task, runnable(tx, job.customer_id, task.task_id))
    triggered = [task for task in approved if task.node_id is None]
    changes += changes_between(triggered, _triggered(tx, job, spec, []))
    return sorted(set(changes))


def _workflow_changes(tx: Tx, customer_id: str, before: PlannedTask) -> list[str]:
    if before.workflow_id is None:
        return []
    version = tx.value(
        "select version from workflows where id = ? and customer_id = ? and deleted_at is null",
        before.workflow_id,
        customer_id,
    )
    return [] if version == before.workflow_version else [f"the workflow of {before.name}"]


def changes_between(before: Plan, now: Plan) -> list[str]:
    old_tasks = {(task.workflow_id, task.task_id): task for task in before}
    new_tasks = {(task.workflow_id, task.task_id): task for task in now}
    keys = old_tasks.keys() | new_tasks.keys()
    return [
        change for key in keys for change in _task_changes(old_tasks.get(key), new_tasks.get(key))
    ]


def _task_changes(before: PlannedTask | None, now: PlannedTask | None) -> list[str]:
    if before is None or now is None:
        task = before or now
        assert task is not None
        return [f"{task.name} is {'started by it, too' if before is None else 'gone'}"]
    if before.workflow_version != now.workflow_version:
        return [f"the workflow of {now.name}"]
    return _changed_parts(before, now)


def differences(tx: Tx, before: PlannedTask, now: Runnable | None) -> list[str]:
    if now is None or now.lacks_host:
        return [f"{before.name} is gone" if now is None else f"the host of {before.name} is gone"]
    return _changed_parts(before, plan_task(tx, now, None))


def _changed_parts(before: PlannedTask, now: PlannedTask) -> list[str]:
    """The changed parts, named as on the approval page."""
    if before.digest == now.digest:
        return []
    is_changed = {
        "script": (before.script_sha256, before.script_id) != (now.script_sha256, now.script_id),
        "host": before.host_id != now.host_id,
        "run-as": (before.script_runas, before.os_user) != (now.script_runas, now.os_user),
        "address": before.url != now.url,
    }
    named = [word for word, is_other in is_changed.items() if is_other] or ["definition"]
    return [f"the {word} of {before.name}" for word in named]


def change_message(changes: Iterable[str]) -> str:
    return f"What would run has changed since the approval was requested: {'; '.join(changes)}."


def check_triggered(tx: Tx, customer_id: str, job_id: str, trigger: Trigger) -> None:
    """The same for a task or workflow that an approval triggers."""
    text = tx.value("select plan from approvals where job_id = ?", job_id)
    if text is None:
        return
    approved = [
        task
        for task in decode(tx, text)
        if task.node_id is None and trigger.target_id == (task.workflow_id or task.task_id)
    ]
    reject_changes(changes_between(approved, _for_target(tx, customer_id, trigger, [])))


def reject_changes(changes: Iterable[str]) -> None:
    if distinct := sorted(set(changes)):
        message = f"This is not what was approved: {'; '.join(distinct)}. Request a new approval."
        raise Conflict(message, code="changed_since_approval")
