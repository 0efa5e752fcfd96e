"""The rows of tasks and of their versions."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.access.crypto import sealed_values
from belvedere.access.customers.history_limits import HistoryLimits
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Query, Tx, columns
from belvedere.db.ports import Port
from belvedere.files.usage import FileUse
from belvedere.hosts.model import HostRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.tasks.definition.masking import hidden_fields
from belvedere.tasks.model import KIND_NAMES, ArgumentKind, TaskSpec, Type, decode, encode

_KIND = " ".join(f"when '{type}' then '{name}'" for type, name in KIND_NAMES.items())
TASKS = Listable(
    fields={
        "id": Field("t.id"),
        "name": Field("t.name", is_name=True),
        "type": Field("t.type"),
        "_type": Field(f"case t.type {_KIND} end"),
        "host_id": Field("t.host_id"),
        "hostname": Field("h.hostname", is_name=True),
        "script_id": Field("t.script_id"),
        "script_name": Field("f.filename", is_name=True),
        "enable": Field("t.enabled", FieldKind.BOOL),
        "version": Field("t.version", FieldKind.INT),
        "creation_date": Field("t.created_at", FieldKind.TIME),
        "last_update": Field("t.updated_at", FieldKind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = t.customer_id"
            " and a.object = 'task' and a.object_id = t.id and a.entry {test})"
        ),
    }
)


class TaskRow(msgspec.Struct):
    """A row of `tasks`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    type: str
    host_id: str | None
    script_id: str | None
    enabled: int
    version: int
    spec: str
    created_at: int
    updated_at: int


class ScheduleLine(msgspec.Struct):
    """A schedule of a task, as the task's record shows it."""

    id: str
    name: str
    run_date: Millis | None
    repeat_every: str | None
    timezone: str
    next_at: Millis | None
    target_id: str


# (organization, tasks): the schedules of each task, oldest first.
schedule_lines: Port[[Tx, str, Sequence[str]], dict[str, list[ScheduleLine]]] = Port(
    "tasks.schedule_lines"
)


class TaskView(TaskRow):
    """A task with the names of its host and script."""

    hostname: str | None
    script_name: str | None
    # Ids of the events that start it; not a column.
    triggers: list[str] = []
    # Not a column either.
    schedules: list[ScheduleLine] = []
    # The organization's limits, for tasks without their own; not a column either.
    history_default: HistoryLimits = HistoryLimits(1_000, 90)


class Runnable(msgspec.Struct):
    """Everything that a new job takes from its task."""

    id: str
    name: str
    type: str
    enabled: int
    version: int
    host_id: str | None
    # None also when the host was deleted.
    hostname: str | None
    script_id: str | None
    script_sha256: str | None
    script_filename: str | None
    spec: TaskSpec

    @property
    def lacks_host(self) -> bool:
        return self.hostname is None and Type(self.type).needs_host


_RUNNABLE = (
    "t.id, t.name, t.type, t.enabled, t.version, t.host_id, h.hostname, t.script_id,"
    " f.sha256, f.filename, t.spec"
)
_JOINS = (
    "left join hosts h on h.id = t.host_id and h.deleted_at is null"
    " left join files f on f.id = t.script_id"
)
_VIEW = f"{columns(TaskRow, 't.')}, h.hostname, f.filename"


def sealed_spec(tx: Tx, task_id: str, text: str) -> str:
    """A definition as it is stored, with secret fields sealed."""
    return sealed_values.seal_object(tx, seal_context(task_id), text, hidden_fields(text))


def _unseal(tx: Tx, task_id: str, text: str) -> str:
    return sealed_values.open_object(tx, seal_context(task_id), text)


def seal_context(task_id: str) -> str:
    return f"task/{task_id}"


def clear_spec(tx: Tx, task_id: str, text: str) -> TaskSpec:
    return decode(_unseal(tx, task_id, text))


def runnable(
    tx: Tx, customer_id: str, task_id: str, *, also_deleted: bool = False
) -> Runnable | None:
    """The task with the current version of its script."""
    row = with_host(tx, customer_id, task_id, also_deleted=also_deleted)
    return None if row is None else row[0]


def with_host(
    tx: Tx, customer_id: str, task_id: str, *, also_deleted: bool = False
) -> tuple[Runnable, HostRow | None] | None:
    """The task and its host, unless the host was deleted."""
    sql, params = with_host_query(customer_id, task_id, also_deleted=also_deleted)
    row = tx.row(sql, *params)
    if row is None:
        return None
    width = len(Runnable.__struct_fields__)
    task, host = (*row[: width - 1], decode(_unseal(tx, row[0], row[width - 1]))), row[width:]
    return Runnable(*task), None if host[0] is None else HostRow(*host)


def with_host_query(customer_id: str, task_id: str, *, also_deleted: bool = False) -> Query:
    return (
        f"select {_RUNNABLE}, {columns(HostRow, 'h.')} from tasks t {_JOINS}"
        " where t.id = ? and t.customer_id = ?"
        f"{'' if also_deleted else ' and t.deleted_at is null'}",
        (task_id, customer_id),
    )


def takes_file(tx: Tx, task_id: str, customer_id: str | None = None) -> bool:
    """Whether one of its arguments is a file."""
    row = tx.row("select customer_id, spec from tasks where id = ? and deleted_at is null", task_id)
    return row is not None and customer_id in (None, row[0]) and _has_file(row[1])


def any_takes_file(tx: Tx, customer_id: str) -> bool:
    """Whether an argument of any task of the organization is a file."""
    rows = tx.rows(
        "select spec from tasks where customer_id = ? and deleted_at is null and spec like ?",
        customer_id,
        f'%"{ArgumentKind.FILE}"%',
    )
    return any(_has_file(spec) for (spec,) in rows)


def _has_file(spec: str) -> bool:
    return any(argument.type is ArgumentKind.FILE for argument in decode(spec).task_arguments)


def workflow_of(tx: Tx, task_id: str) -> str | None:
    """A workflow that runs the task. `workflow_specs` is above this package, so its table is read
    directly."""
    workflow_id: str | None = tx.value(
        "select workflow_id from workflow_tasks where task_id = ? order by workflow_id limit 1",
        task_id,
    )
    return workflow_id


def task_snapshot(tx: Tx, task_id: str, version: int) -> TaskSpec | None:
    """The definition of a version. It never changes, so callers may cache it."""
    spec = tx.value(
        "select spec from task_versions where task_id = ? and version = ?", task_id, version
    )
    return None if spec is None else decode(_unseal(tx, task_id, spec))


def find(tx: Tx, customer_id: str, task_id: str, *, lock: bool = False) -> TaskRow:
    """The task; `lock` locks its row until the end of the transaction."""
    row = tx.one(
        TaskRow,
        f"select {columns(TaskRow)} from tasks"
        " where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if lock else ''}",
        task_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    row.spec = _unseal(tx, row.id, row.spec)
    return row


def lock(tx: Tx, customer_id: str, task_id: str) -> bool:
    """Lock the task until the end of the transaction; False if there is none."""
    row = tx.row(
        "select 1 from tasks where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows}",
        task_id,
        customer_id,
    )
    return row is not None


def uses_of_file(tx: Tx, customer_id: str, file_id: str) -> list[FileUse]:
    """The tasks that run this script."""
    return tx.all(
        FileUse,
        "select id, name, type, 'Task' as model from tasks"
        " where customer_id = ? and script_id = ? and deleted_at is null order by id",
        customer_id,
        file_id,
    )


def not_found() -> NotFound:
    return NotFound("There is no such task.", code="task_not_found")


def view(tx: Tx, customer_id: str, task_id: str) -> TaskView:
    row = tx.one(
        TaskView,
        f"select {_VIEW} from tasks t {_JOINS}"
        " where t.id = ? and t.customer_id = ? and t.deleted_at is null",
        task_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    row.spec = _unseal(tx, row.id, row.spec)
    return row


def fit_page(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The listing, shortened to the size limit of a response."""
    visible_sql, seen_params = visible_filter(actor, "task", "t.id")
    sql = clauses(listing)
    rows = tx.rows(
        f"select octet_length(t.spec) from tasks t {_JOINS}"
        f" where t.customer_id = ? and t.deleted_at is null and {visible_sql}{sql.where}{sql.page}",
        *(actor.customer_id, *seen_params, *sql.params, *sql.page_params),
    )
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def select_page(tx: Tx, actor: Actor, listing: Listing) -> list[TaskView]:
    """Tasks that the actor may see."""
    visible_sql, seen_params = visible_filter(actor, "task", "t.id")
    sql = clauses(listing)
    rows = tx.all(
        TaskView,
        f"select {_VIEW} from tasks t {_JOINS}"
        f" where t.customer_id = ? and t.deleted_at is null and {visible_sql}{sql.where}{sql.page}",
        actor.customer_id,
        *seen_params,
        *sql.params,
        *sql.page_params,
    )
    for view in rows:
        view.spec = _unseal(tx, view.id, view.spec)
    return rows


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    visible_sql, seen_params = visible_filter(actor, "task", "t.id")
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from tasks t {_JOINS}"
            f" where t.customer_id = ? and t.deleted_at is null and {visible_sql}{sql.where}",
            actor.customer_id,
            *seen_params,
            *sql.params,
        )
    )


def acls_of(tx: Tx, customer_id: str, task_ids: list[str]) -> dict[str, list[str]]:
    """The ACL entries of several tasks."""
    rows = tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'task'"
        f" and object_id in {tx.dialect.in_texts} order by entry",
        customer_id,
        msgspec.json.encode(task_ids).decode(),
    )
    entries: dict[str, list[str]] = {task_id: [] for task_id in task_ids}
    for task_id, entry in rows:
        entries[task_id].append(entry)
    return entries


def insert(tx: Tx, row: TaskRow) -> None:
    marks = ", ".join("?" for _ in TaskRow.__struct_fields__)
    stored = msgspec.structs.replace(row, spec=sealed_spec(tx, row.id, row.spec))
    tx.execute(
        f"insert into tasks ({columns(TaskRow)}) values ({marks})", *msgspec.structs.astuple(stored)
    )


def save(tx: Tx, row: TaskRow) -> None:
    tx.execute(
        "update tasks set name = ?, host_id = ?, script_id = ?, enabled = ?, version = ?,"
        " spec = ?, updated_at = ? where id = ? and customer_id = ?",
        row.name,
        row.host_id,
        row.script_id,
        row.enabled,
        row.version,
        sealed_spec(tx, row.id, row.spec),
        row.updated_at,
        row.id,
        row.customer_id,
    )


def insert_version(tx: Tx, row: TaskRow, created_by: str) -> None:
    tx.execute(
        "insert into task_versions (task_id, version, spec, created_by, created_at)"
        " values (?, ?, ?, ?, ?)",
        row.id,
        row.version,
        sealed_spec(tx, row.id, row.spec),
        created_by,
        row.updated_at,
    )


def mark_deleted(tx: Tx, row: TaskRow) -> None:
    tx.execute(
        "update tasks set deleted_at = ? where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def write_spec(row: TaskRow, spec: TaskSpec) -> None:
    """Write a definition to its row; fields that queries filter by also have columns."""
    row.name = spec.name
    row.host_id = spec.host_id
    row.script_id = spec.script_id
    row.enabled = int(spec.enable)
    row.spec = encode(spec)
