"""The rows of monitors."""

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.access.crypto import sealed_values
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.files.usage import FileUse
from belvedere.monitors.config.redaction import redacted_fields
from belvedere.monitors.model import KIND_NAMES, MonitorRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

_KIND = " ".join(f"when '{type}' then '{name}'" for type, name in KIND_NAMES.items())
MONITORS = Listable(
    fields={
        "id": Field("m.id"),
        "_id": Field("m.id"),
        "name": Field("m.name", is_name=True),
        "type": Field("m.type"),
        "_type": Field(f"case m.type {_KIND} end"),
        "host_id": Field("m.host_id"),
        "hostname": Field("h.hostname", is_name=True),
        "state": Field("m.state"),
        "enable": Field("m.enabled", FieldKind.BOOL),
        "alerts": Field("m.alerts", FieldKind.BOOL),
        "failure_severity": Field("m.severity"),
        "looptime": Field("m.looptime", FieldKind.INT),
        "fails_count": Field("m.fails_count", FieldKind.INT),
        "version": Field("m.version", FieldKind.INT),
        "last_check": Field("m.checked_at", FieldKind.TIME),
        "creation_date": Field("m.created_at", FieldKind.TIME),
        "last_update": Field("m.updated_at", FieldKind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = m.customer_id"
            " and a.object = 'monitor' and a.object_id = m.id and a.entry {test})"
        ),
    }
)


class MonitorView(MonitorRow):
    """A monitor with the name of its host."""

    hostname: str | None


MonitorRowT = TypeVar("MonitorRowT", bound=MonitorRow)
_ROW = columns(MonitorRow)
_VIEW = f"{columns(MonitorRow, 'm.')}, h.hostname"
_FROM = "monitors m left join hosts h on h.id = m.host_id and h.deleted_at is null"
_SET = ", ".join(
    f"{name} = ?" for name in MonitorRow.__struct_fields__ if name not in ("id", "customer_id")
)
# Columns that only check results change.
STATUS_COLUMNS = (
    "state",
    "state_at",
    "fails_count",
    "recovery_count",
    "is_failing",
    "flips",
    "is_flapping",
    "last_event",
    "checked_at",
    "due_at",
)
_SET_STATUS = ", ".join(f"{name} = ?" for name in STATUS_COLUMNS)
_status_values = attrgetter(*STATUS_COLUMNS, "id", "customer_id")


def seal_context(monitor_id: str) -> str:
    return f"monitor/{monitor_id}"


def sealed_config(tx: Tx, monitor_id: str, text: str) -> str:
    """The configuration as it is stored: credentials are sealed."""
    return sealed_values.seal_object(tx, seal_context(monitor_id), text, redacted_fields(text))


def _stored_values(tx: Tx, row: MonitorRow) -> tuple[Any, ...]:
    stored = msgspec.structs.replace(row, config=sealed_config(tx, row.id, row.config))
    return msgspec.structs.astuple(stored)


def _unseal(tx: Tx, rows: list[MonitorRowT]) -> list[MonitorRowT]:
    for row in rows:
        row.config = sealed_values.open_object(tx, seal_context(row.id), row.config)
    return rows


def find(tx: Tx, customer_id: str, monitor_id: str, *, lock: bool = False) -> MonitorRow:
    """The monitor; with `lock`, its row is locked until the end of the transaction."""
    row = tx.one(
        MonitorRow,
        f"select {_ROW} from monitors where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if lock else ''}",
        monitor_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    return _unseal(tx, [row])[0]


def not_found() -> NotFound:
    return NotFound("There is no such monitor.", code="monitor_not_found")


def find_view(tx: Tx, customer_id: str, monitor_id: str) -> MonitorView:
    row = tx.one(
        MonitorView,
        f"select {_VIEW} from {_FROM}"
        " where m.id = ? and m.customer_id = ? and m.deleted_at is null",
        monitor_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    return _unseal(tx, [row])[0]


def fit_to_budget(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The same listing, cut to the size limit of a response."""
    visible_sql, visible_params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    rows = tx.rows(
        f"select octet_length(m.config) + octet_length(m.last_event) from {_FROM}"
        f" where m.customer_id = ? and m.deleted_at is null and {visible_sql}{sql.where}{sql.page}",
        *(actor.customer_id, *visible_params, *sql.params, *sql.page_params),
    )
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def select_page(tx: Tx, actor: Actor, listing: Listing) -> list[MonitorView]:
    """A page of the monitors that the actor may see; without an ACL, every viewer may see one."""
    visible_sql, visible_params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    rows = tx.all(
        MonitorView,
        f"select {_VIEW} from {_FROM} where m.customer_id = ? and m.deleted_at is null"
        f" and {visible_sql}{sql.where}{sql.page}",
        actor.customer_id,
        *visible_params,
        *sql.params,
        *sql.page_params,
    )
    return _unseal(tx, rows)


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    visible_sql, visible_params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from {_FROM} where m.customer_id = ? and m.deleted_at is null"
            f" and {visible_sql}{sql.where}",
            actor.customer_id,
            *visible_params,
            *sql.params,
        )
    )


def acls(tx: Tx, customer_id: str) -> dict[str, list[str]]:
    """ACL entries by monitor; monitors without an ACL are left out."""
    entries: dict[str, list[str]] = {}
    rows = tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'monitor'"
        " order by entry",
        customer_id,
    )
    for monitor_id, entry in rows:
        entries.setdefault(monitor_id, []).append(entry)
    return entries


def insert(tx: Tx, row: MonitorRow) -> None:
    marks = ", ".join("?" for _ in MonitorRow.__struct_fields__)
    tx.execute(f"insert into monitors ({_ROW}) values ({marks})", *_stored_values(tx, row))


def save(tx: Tx, row: MonitorRow) -> None:
    id_, customer_id, *others = _stored_values(tx, row)
    tx.execute(
        f"update monitors set {_SET} where id = ? and customer_id = ?", *others, id_, customer_id
    )


def save_status(tx: Tx, rows: Iterable[MonitorRow]) -> None:
    """Save the columns that check results change; definitions stay as they are."""
    tx.update_many(
        f"update monitors set {_SET_STATUS} where id = ? and customer_id = ?",
        [_status_values(row) for row in rows],
    )


def mark_deleted(tx: Tx, row: MonitorRow) -> None:
    tx.execute(
        "update monitors set deleted_at = ?, due_at = null where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def for_host(tx: Tx, host_id: str, *, lock: bool = False) -> list[MonitorRow]:
    """All monitors of a host. The caller has checked that the host belongs to the organization."""
    rows = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where host_id = ? and deleted_at is null"
        f" order by id{tx.dialect.lock_rows if lock else ''}",
        host_id,
    )
    return _unseal(tx, rows)


def page_for_host(tx: Tx, host_id: str, after: str, limit: int) -> list[MonitorRow]:
    """The host's next monitors after this id, ordered by id."""
    rows = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where host_id = ? and deleted_at is null and id > ?"
        " order by id limit ?",
        host_id,
        after,
        limit,
    )
    return _unseal(tx, rows)


def select_for_host(tx: Tx, host_id: str, monitor_ids: Sequence[str]) -> list[MonitorRow]:
    """The host's monitors with these ids."""
    rows = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where id in {tx.dialect.in_texts} and host_id = ?"
        " and deleted_at is null",
        msgspec.json.encode(list(monitor_ids)).decode(),
        host_id,
    )
    return _unseal(tx, rows)


def lock_for_host(tx: Tx, host_id: str, monitor_ids: Collection[str]) -> list[MonitorRow]:
    """The host's monitors with these ids; their rows are locked."""
    if not monitor_ids:
        return []
    return select_locked(
        tx,
        f"id in {tx.dialect.in_texts} and host_id = ?",
        msgspec.json.encode(list(monitor_ids)).decode(),
        host_id,
    )


def select_locked(
    tx: Tx, condition: str, *params: object, limit: int | None = None
) -> list[MonitorRow]:
    """Monitors of all organizations that match a condition, with locked rows."""
    rows = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where deleted_at is null and ({condition})"
        f" order by id{'' if limit is None else f' limit {limit}'}{tx.dialect.lock_rows}",
        *params,
    )
    return _unseal(tx, rows)


def exists(tx: Tx, condition: str, *params: object) -> bool:
    row = tx.row(
        f"select 1 from monitors where deleted_at is null and ({condition}) limit 1", *params
    )
    return row is not None


def states(tx: Tx, customer_id: str, monitor_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """(state, type) by id; ids that do not exist are left out."""
    rows = tx.rows(
        "select id, state, type from monitors where customer_id = ? and deleted_at is null"
        f" and id in {tx.dialect.in_texts}",
        customer_id,
        msgspec.json.encode(list(monitor_ids)).decode(),
    )
    return {monitor_id: (state, type_) for monitor_id, state, type_ in rows}


def hostnames(tx: Tx, host_ids: Iterable[str]) -> dict[str, str]:
    rows = tx.rows(
        f"select id, hostname from hosts where id in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted(host_ids)).decode(),
    )
    return {host_id: name for host_id, name in rows}


def deleted_before(tx: Tx, moment: Millis, limit: int) -> list[tuple[str, str]]:
    rows = tx.rows(
        "select id, customer_id from monitors where deleted_at < ? order by deleted_at limit ?",
        moment,
        limit,
    )
    return [(monitor_id, customer_id) for monitor_id, customer_id in rows]


def uses_of_file(tx: Tx, customer_id: str, file_id: str) -> list[FileUse]:
    """The monitors that run this script or maintain this file."""
    return tx.all(
        FileUse,
        "select id, name, type, 'Monitor' as model from monitors"
        " where customer_id = ? and type in ('script', 'file') and config like ?"
        " and deleted_at is null order by id",
        customer_id,
        f'%"{file_id}"%',
    )


def needs_file(tx: Tx, host_id: str, file_id: str) -> bool:
    """Whether it is the script or the maintained file of a monitor on this host; other texts of a
    monitor do not count."""
    rows = tx.rows(
        "select config from monitors where host_id = ? and deleted_at is null"
        " and type in ('script', 'file') and config like ?",
        host_id,
        f'%"{file_id}"%',
    )
    configs = [msgspec.json.decode(config) for (config,) in rows]
    return any(file_id in (config.get("script_id"), config.get("file")) for config in configs)
