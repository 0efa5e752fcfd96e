"""What an approval lets run: written down when it is asked for, and compared before it counts."""

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
# How a task is called, found and kept. All the rest of a definition decides what runs.
_IMMATERIAL = frozenset(
    {"name", "description", "short_description", "icon_color", "icon_image", "tags", "enable"}
    | {"history", "notify", "show_result", "concurrency", "output_parameters"}
)


class Planned(msgspec.Struct, omit_defaults=True):
    """One task that runs once the approval is given."""

    task_id: str
    name: str
    type: str
    task_version: int
    # Keyed hash of everything that decides what runs; another one makes the approval void.
    digest: str
    # The node of the approval's own workflow, else null.
    node_id: str | None = None
    # The workflow that it runs in, at this version, where that is another one: it is started as a
    # trigger, or by the node.
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
    # Null: they come from what runs before it.
    arguments: list[Any] | None = None

    @property
    def objects(self) -> set[str]:
        found = (self.task_id, self.workflow_id, self.host_id, self.script_id)
        return {one for one in found if one}


Plan = list[Planned]
_plan = msgspec.json.Decoder(Plan).decode


def _decode(tx: Tx, text: str) -> Plan:
    """Plans that older versions wrote may hold the credentials of an address, and a plain hash,
    by which somebody could test guesses of a secret."""
    return [
        msgspec.structs.replace(
            one, url=replace_in_text(one.url, mask_value), digest=keyed(tx.sealer, one.digest)
        )
        for one in _plan(text)
    ]


def keyed(sealer: Sealer | None, plain: str) -> str:
    """The hash as it is shown and compared; a keyed one stays as it is."""
    if sealer is None or plain.startswith(KEYED):
        return plain
    return KEYED + sealer.digest(f"plan {plain}")


def planned(
    tx: Tx, task: Runnable, given: Sequence[Any] | None, hidden: Collection[int] = (), **where: Any
) -> Planned:
    """The task as it would run now; `hidden` are values that nobody may see."""
    return Planned(
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
        arguments=None if given is None else _shown(task.spec, given, hidden),
        **where,
    )


def _digest(task: Runnable) -> str:
    said = msgspec.to_builtins(task.spec)
    material = {name: value for name, value in said.items() if name not in _IMMATERIAL}
    material["script"] = [task.script_sha256, task.script_filename]
    text = msgspec.json.encode(material, order="sorted")
    return hashlib.sha256(text).hexdigest()


def _shown(spec: TaskSpec, given: Sequence[Any], hidden: Collection[int]) -> list[Any] | None:
    try:
        values = arguments.fit(spec.task_arguments, given, by_index=True)
    except Invalid:
        # It will ask somebody, or not start and say why.
        return None
    plain = [one if isinstance(one, str) else {"filename": one.filename} for one in values]
    known = arguments.masked(spec.task_arguments, plain)
    return [MASK if n in hidden else one for n, one in enumerate(known)]


def write(tx: Tx, job: JobRow, spec: TaskSpec, values: str, follows: Plan) -> Plan:
    """Fix what this approval is about: what follows in its workflow, and what it triggers."""
    found = [*follows, *_triggered(tx, job, spec, clear_values(tx, job, values))]
    text = msgspec.json.encode(found).decode()
    tx.execute("insert into approvals (job_id, plan) values (?, ?)", job.id, text)
    objects = sorted({object_id for one in found for object_id in one.objects})
    tx.execute_many(
        "insert into approval_objects (object_id, job_id) values (?, ?)",
        [(object_id, job.id) for object_id in objects],
    )
    return found


def clear_values(tx: Tx, job: JobRow, values: str) -> list[Any]:
    """The values that a job keeps, in clear. Only for texts of the database: a box in a request is
    never opened, because it may come from a stolen backup."""
    return sealed_values.open_values(tx.sealer, job.customer_id, msgspec.json.decode(values))


def of_job(tx: Tx, job_id: str) -> Plan:
    text = tx.value("select plan from approvals where job_id = ?", job_id)
    return [] if text is None else _decode(tx, text)


def hidden_in(spec: TaskSpec) -> frozenset[int]:
    """Which of its values an approval hands on without showing them."""
    return frozenset(n for n, one in enumerate(spec.task_arguments) if one.masked)


def _triggered(tx: Tx, job: JobRow, spec: TaskSpec, values: list[Any]) -> Plan:
    """What the event `success` of the approval's task starts."""
    attached = store.for_source(tx, job.customer_id, "task", job.task_id or "", "success")
    found: Plan = []
    for one in attached:
        found += _of_target(tx, job.customer_id, one, values, hidden_in(spec))
    return found


def _of_target(
    tx: Tx, customer_id: str, one: Trigger, values: list[Any], hidden: Collection[int] = ()
) -> Plan:
    if one.target == "workflow":
        return of_workflow(tx, customer_id, one.target_id)
    task = runnable(tx, customer_id, one.target_id)
    return [] if task is None else [planned(tx, task, values, hidden)]


def of_workflow(tx: Tx, customer_id: str, workflow_id: str, node_id: str | None = None) -> Plan:
    """Its tasks, and those of the workflows that it runs. They lie above, hence by the names of
    their tables."""
    found: Plan = []
    todo, seen = [workflow_id], {workflow_id}
    while todo:
        flow = todo.pop(0)
        found += _tasks_of(tx, customer_id, flow, node_id)
        rows = tx.rows(
            "select part_id from workflow_parts where workflow_id = ? order by part_id", flow
        )
        todo += [part_id for (part_id,) in rows if part_id not in seen]
        seen.update(todo)
    return found


def _tasks_of(tx: Tx, customer_id: str, workflow_id: str, node_id: str | None) -> Plan:
    rows = tx.rows(
        "select w.version, u.task_id from workflows w join workflow_tasks u on u.workflow_id = w.id"
        " where w.id = ? and w.customer_id = ? and w.deleted_at is null order by u.task_id",
        workflow_id,
        customer_id,
    )
    where: dict[str, Any] = {"node_id": node_id, "workflow_id": workflow_id}
    tasks = [(version, runnable(tx, customer_id, task_id)) for version, task_id in rows]
    return [
        planned(tx, task, None, workflow_version=version, **where)
        for version, task in tasks
        if task is not None
    ]


def changes(tx: Tx, job: JobRow, spec: TaskSpec) -> list[str]:
    """What is no longer as it was asked for, in words; nothing: the approval may be given."""
    asked = of_job(tx, job.id)
    found = []
    for one in asked:
        if one.node_id is not None:
            found += _version_moved(tx, job.customer_id, one)
            found += differences(tx, one, runnable(tx, job.customer_id, one.task_id))
    attached = [one for one in asked if one.node_id is None]
    found += _moves(attached, _triggered(tx, job, spec, []))
    return sorted(set(found))


def _version_moved(tx: Tx, customer_id: str, before: Planned) -> list[str]:
    if before.workflow_id is None:
        return []
    version = tx.value(
        "select version from workflows where id = ? and customer_id = ? and deleted_at is null",
        before.workflow_id,
        customer_id,
    )
    return [] if version == before.workflow_version else [f"the workflow of {before.name}"]


def _moves(before: Plan, now: Plan) -> list[str]:
    was = {(one.workflow_id, one.task_id): one for one in before}
    is_now = {(one.workflow_id, one.task_id): one for one in now}
    keys = was.keys() | is_now.keys()
    return [word for key in keys for word in _moved(was.get(key), is_now.get(key))]


def _moved(before: Planned | None, now: Planned | None) -> list[str]:
    if before is None or now is None:
        there = before or now
        assert there is not None
        return [f"{there.name} is {'started by it, too' if before is None else 'gone'}"]
    if before.workflow_version != now.workflow_version:
        return [f"the workflow of {now.name}"]
    return _aspects(before, now)


def differences(tx: Tx, before: Planned, now: Runnable | None) -> list[str]:
    if now is None or now.lacks_host:
        return [f"{before.name} is gone" if now is None else f"the host of {before.name} is gone"]
    return _aspects(before, planned(tx, now, None))


def _aspects(before: Planned, now: Planned) -> list[str]:
    """In the words of what an approver was shown."""
    if before.digest == now.digest:
        return []
    shown = {
        "script": (before.script_sha256, before.script_id) != (now.script_sha256, now.script_id),
        "host": before.host_id != now.host_id,
        "run-as": (before.script_runas, before.os_user) != (now.script_runas, now.os_user),
        "address": before.url != now.url,
    }
    named = [word for word, is_other in shown.items() if is_other] or ["definition"]
    return [f"the {word} of {before.name}" for word in named]


def told(found: Iterable[str]) -> str:
    return f"What would run has changed since the approval was asked for: {'; '.join(found)}."


def check_step(tx: Tx, workflow_job_id: str, node_id: str, task: Runnable) -> None:
    """Of a workflow that was approved, only what was approved starts; also where the approval was
    given in a workflow that runs this one."""
    asked = _approved(tx, workflow_job_id, node_id)
    run: str | None = workflow_job_id
    while run is not None:
        inner, run = tx.row("select workflow_id, workflow_job_id from jobs where id = ?", run) or (
            None,
            None,
        )
        if run is not None:
            of = _approved(tx, run, _node_of(tx, run, workflow_job_id))
            asked += [one for one in of if (one.workflow_id, one.task_id) == (inner, task.id)]
            workflow_job_id = run
    _refuse([word for one in asked for word in differences(tx, one, task)])


def _node_of(tx: Tx, workflow_job_id: str, job_id: str) -> str:
    found: str | None = tx.value(
        "select node_id from workflow_steps where workflow_job_id = ? and job_id = ?",
        workflow_job_id,
        job_id,
    )
    return found or ""


def _approved(tx: Tx, workflow_job_id: str, node_id: str) -> Plan:
    """What approvals in this workflow job have said yes to, of one node; where one was asked
    several times, its newest yes."""
    rows = tx.rows(
        "select s.node_id, a.plan from workflow_steps s join approvals a on a.job_id = s.job_id"
        " join jobs j on j.id = a.job_id where s.workflow_job_id = ? and j.state = 'success'"
        " order by s.visit",
        workflow_job_id,
    )
    plans: dict[str, str] = dict(rows)
    return [one for text in plans.values() for one in _decode(tx, text) if one.node_id == node_id]


def check_run(
    tx: Tx, workflow_job_id: str, node_id: str, customer_id: str, workflow_id: str
) -> None:
    """The same for a node that runs another workflow, with all that is in it."""
    asked = _approved(tx, workflow_job_id, node_id)
    if asked:
        _refuse(_moves(asked, of_workflow(tx, customer_id, workflow_id)))


def check_triggered(tx: Tx, customer_id: str, job_id: str, one: Trigger) -> None:
    """The same for what an approval starts as a trigger."""
    text = tx.value("select plan from approvals where job_id = ?", job_id)
    if text is None:
        return
    asked = [
        each
        for each in _decode(tx, text)
        if each.node_id is None and one.target_id == (each.workflow_id or each.task_id)
    ]
    _refuse(_moves(asked, _of_target(tx, customer_id, one, [])))


def _refuse(found: Iterable[str]) -> None:
    if words := sorted(set(found)):
        message = f"This is not what was approved: {'; '.join(words)}. Ask for a new approval."
        raise Conflict(message, code="changed_since_approval")
