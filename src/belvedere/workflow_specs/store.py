"""The rows of workflows and their versions."""

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.access.crypto import sealed_values
from belvedere.base.errors import NotFound
from belvedere.base.text.credentials import MASK
from belvedere.db import Tx, columns
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.tasks import store as tasks
from belvedere.triggers import store as triggers
from belvedere.workflow_specs.model import WorkflowRow, WorkflowSpec, decode, encode

WORKFLOWS = Listable(
    fields={
        "id": Field("w.id"),
        "name": Field("w.name", is_name=True),
        "enable": Field("w.enabled", FieldKind.BOOL),
        "multitasking": Field("w.multitasking", FieldKind.BOOL),
        "version": Field("w.version", FieldKind.INT),
        "creation_date": Field("w.created_at", FieldKind.TIME),
        "last_update": Field("w.updated_at", FieldKind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = w.customer_id"
            " and a.object = 'workflow' and a.object_id = w.id and a.entry {test})"
        ),
    }
)
_ROW = columns(WorkflowRow)
# Decoded versions in memory, shared by tasks and workflows.
MAX_CACHED_VERSIONS = 5_000


class TaskName(msgspec.Struct):
    """A task of a workflow, with the name that the console shows."""

    id: str
    name: str
    type: str


def find(tx: Tx, customer_id: str, workflow_id: str, *, lock: bool = False) -> WorkflowRow:
    """The workflow; `lock` locks its row until the end of the transaction."""
    row = look_up(tx, customer_id, workflow_id, lock=lock)
    if row is None:
        raise not_found()
    return row


def takes_file(tx: Tx, workflow_id: str) -> bool:
    """Whether one of its tasks has a file argument."""
    rows = tx.rows("select task_id from workflow_tasks where workflow_id = ?", workflow_id)
    return any(tasks.takes_file(tx, task_id) for (task_id,) in rows)


def owner_of(tx: Tx, workflow_id: str) -> tuple[str, str] | None:
    """The organization of a workflow, by id and name."""
    row = tx.row(
        "select c.id, c.name from customers c join workflows w on w.customer_id = c.id"
        " where w.id = ? and c.enabled = 1",
        workflow_id,
    )
    return None if row is None else (row[0], row[1])


def not_found() -> NotFound:
    return NotFound("There is no such workflow.", code="workflow_not_found")


def look_up(
    tx: Tx, customer_id: str, workflow_id: str, *, lock: bool = False, also_deleted: bool = False
) -> WorkflowRow | None:
    row = tx.one(
        WorkflowRow,
        f"select {_ROW} from workflows where id = ? and customer_id = ?"
        f"{'' if also_deleted else ' and deleted_at is null'}"
        f"{tx.dialect.lock_rows if lock else ''}",
        workflow_id,
        customer_id,
    )
    return None if row is None else _unsealed(tx, [row])[0]


def seal_context(workflow_id: str) -> str:
    return f"workflow/{workflow_id}"


def sealed_spec(tx: Tx, workflow_id: str, text: str) -> str:
    """A definition as it is stored."""
    constants = decode(text).global_constants
    hidden = {"global_constants": dict.fromkeys(constants, MASK)} if constants else {}
    return sealed_values.seal_object(tx, seal_context(workflow_id), text, hidden)


def _unsealed(tx: Tx, rows: list[WorkflowRow]) -> list[WorkflowRow]:
    for row in rows:
        row.spec = sealed_values.open_object(tx, seal_context(row.id), row.spec)
    return rows


def select_page(tx: Tx, actor: Actor, listing: Listing) -> list[WorkflowRow]:
    """Workflows that the actor may see."""
    source, params = _visible(actor, listing)
    sql = clauses(listing)
    rows = tx.all(
        WorkflowRow,
        f"select {columns(WorkflowRow, 'w.')} {source}{sql.page}",
        *params,
        *sql.page_params,
    )
    return _unsealed(tx, rows)


def fit_page(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The listing, shortened to the size limit of a response."""
    source, params = _visible(actor, listing)
    sql = clauses(listing)
    rows = tx.rows(f"select octet_length(w.spec) {source}{sql.page}", *params, *sql.page_params)
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    source, params = _visible(actor, listing)
    return int(tx.value(f"select count(*) {source}", *params))


def _visible(actor: Actor, listing: Listing) -> tuple[str, list[object]]:
    is_visible, visible_params = visible_filter(actor, "workflow", "w.id")
    sql = clauses(listing)
    where = f"w.customer_id = ? and w.deleted_at is null and {is_visible}{sql.where}"
    return f"from workflows w where {where}", [actor.customer_id, *visible_params, *sql.params]


def insert(tx: Tx, row: WorkflowRow, spec: WorkflowSpec, created_by: str) -> None:
    _write_spec(row, spec)
    marks = ", ".join("?" for _ in WorkflowRow.__struct_fields__)
    sealed = msgspec.structs.replace(row, spec=sealed_spec(tx, row.id, row.spec))
    tx.execute(f"insert into workflows ({_ROW}) values ({marks})", *msgspec.structs.astuple(sealed))
    _insert_version(tx, row, spec, created_by)


def save(tx: Tx, row: WorkflowRow, spec: WorkflowSpec, created_by: str) -> None:
    """Write the next version."""
    _write_spec(row, spec)
    row.version += 1
    row.updated_at = tx.now
    tx.execute(
        "update workflows set name = ?, enabled = ?, multitasking = ?, tags = ?, version = ?,"
        " spec = ?, updated_at = ? where id = ? and customer_id = ?",
        row.name,
        row.enabled,
        row.multitasking,
        row.tags,
        row.version,
        sealed_spec(tx, row.id, row.spec),
        row.updated_at,
        row.id,
        row.customer_id,
    )
    _insert_version(tx, row, spec, created_by)


def mark_deleted(tx: Tx, row: WorkflowRow) -> None:
    triggers.delete_members(tx, row.id)
    tx.execute(
        "update workflows set deleted_at = ? where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def _write_spec(row: WorkflowRow, spec: WorkflowSpec) -> None:
    row.name = spec.name
    row.enabled = int(spec.enable)
    row.multitasking = int(spec.multitasking)
    row.tags = msgspec.json.encode(spec.tags).decode()
    row.spec = encode(spec)


def _insert_version(tx: Tx, row: WorkflowRow, spec: WorkflowSpec, created_by: str) -> None:
    tx.execute(
        "insert into workflow_versions (workflow_id, version, spec, created_by, created_at)"
        " values (?, ?, ?, ?, ?)",
        row.id,
        row.version,
        sealed_spec(tx, row.id, row.spec),
        created_by,
        row.updated_at,
    )
    triggers.replace_members(tx, row.id, spec.graph.tasks, spec.graph.workflows)


def version_of(tx: Tx, workflow_id: str, version: int) -> WorkflowSpec:
    """A version of a workflow. It never changes, so it is read and decoded once."""
    spec: WorkflowSpec | None = tx.version_cache.get(("workflow", workflow_id, version))
    if spec is not None:
        return spec
    text = tx.value(
        "select spec from workflow_versions where workflow_id = ? and version = ?",
        workflow_id,
        version,
    )
    spec = decode(sealed_values.open_object(tx, seal_context(workflow_id), text))
    if len(tx.version_cache) > MAX_CACHED_VERSIONS:
        tx.version_cache.clear()
    tx.version_cache["workflow", workflow_id, version] = spec
    return spec


def tasks_of(tx: Tx, workflow_ids: list[str]) -> dict[str, list[TaskName]]:
    """The tasks of several workflows, sorted by name."""
    tasks_by_workflow: dict[str, list[TaskName]] = {workflow_id: [] for workflow_id in workflow_ids}
    for workflow_id, *task in tx.rows(
        "select u.workflow_id, t.id, t.name, t.type from workflow_tasks u"
        f" join tasks t on t.id = u.task_id where u.workflow_id in {tx.dialect.in_texts}"
        " order by t.name, t.id",
        msgspec.json.encode(workflow_ids).decode(),
    ):
        tasks_by_workflow[workflow_id].append(TaskName(*task))
    return tasks_by_workflow


def acls_of(tx: Tx, customer_id: str, workflow_ids: list[str]) -> dict[str, list[str]]:
    acls: dict[str, list[str]] = {workflow_id: [] for workflow_id in workflow_ids}
    for workflow_id, entry in tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'workflow'"
        f" and object_id in {tx.dialect.in_texts} order by entry",
        customer_id,
        msgspec.json.encode(workflow_ids).decode(),
    ):
        acls[workflow_id].append(entry)
    return acls
