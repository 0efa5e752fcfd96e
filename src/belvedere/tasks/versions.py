"""The current version of tasks, for clients that compare them."""

import hashlib

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.db import Tx
from belvedere.rest.listing import Listing
from belvedere.rest.listing_sql import clauses
from belvedere.tasks import store
from belvedere.tasks.model import KIND_NAMES, Type


class TaskVersionRecord(msgspec.Struct):
    """`fingerprint` changes with the definition and with the content of the script."""

    id: str
    type_: str = msgspec.field(name="_type")
    name: str
    type: str
    version: int
    fingerprint: str


class _Row(msgspec.Struct):
    id: str
    name: str
    type: str
    version: int
    script_sha256: str | None


_SELECT = (
    "select t.id, t.name, t.type, t.version, f.sha256 from tasks t"
    " left join hosts h on h.id = t.host_id and h.deleted_at is null"
    " left join files f on f.id = t.script_id"
    " where t.customer_id = ? and t.deleted_at is null"
)


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[TaskVersionRecord], int | None]:
    sql = clauses(listing)
    visible, params = visible_filter(actor, "task", "t.id")
    rows = tx.all(
        _Row,
        f"{_SELECT} and {visible}{sql.where}{sql.page}",
        *(actor.customer_id, *params, *sql.params, *sql.page_params),
    )
    total = store.count(tx, actor, listing) if listing.count else None
    return [_record(row) for row in rows], total


def show(tx: Tx, actor: Actor, task_id: str) -> TaskVersionRecord:
    """The version of a task that the actor may see."""
    visible, params = visible_filter(actor, "task", "t.id")
    row = tx.one(_Row, f"{_SELECT} and t.id = ? and {visible}", actor.customer_id, task_id, *params)
    if row is None:
        raise store.not_found()
    return _record(row)


def _record(row: _Row) -> TaskVersionRecord:
    # A version never changes, so its number stands for the definition: a hash of the definition
    # itself would allow guessing masked values.
    text = f"{row.id} {row.version} {row.script_sha256 or ''}"
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    kind = KIND_NAMES[Type(row.type)]
    return TaskVersionRecord(row.id, kind, row.name, row.type, row.version, fingerprint)
