"""The rows of monitors."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from belvedere.access import Actor, visible
from belvedere.access.crypto import sealed_values
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.monitors.config.secrecy import hidden_fields
from belvedere.monitors.model import KIND_NAMES, MonitorRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses

_KIND = " ".join(f"when '{type}' then '{name}'" for type, name in KIND_NAMES.items())
MONITORS = Listable(
    fields={
        "id": Field("m.id"),
        "_id": Field("m.id"),
        "name": Field("m.name"),
        "type": Field("m.type"),
        "_type": Field(f"case m.type {_KIND} end"),
        "host_id": Field("m.host_id"),
        "hostname": Field("h.hostname"),
        "state": Field("m.state"),
        "enable": Field("m.enabled", Kind.BOOL),
        "alerts": Field("m.alerts", Kind.BOOL),
        "failure_severity": Field("m.severity"),
        "looptime": Field("m.looptime", Kind.INT),
        "fails_count": Field("m.fails_count", Kind.INT),
        "version": Field("m.version", Kind.INT),
        "last_check": Field("m.checked_at", Kind.TIME),
        "creation_date": Field("m.created_at", Kind.TIME),
        "last_update": Field("m.updated_at", Kind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = m.customer_id"
            " and a.object = 'monitor' and a.object_id = m.id and a.entry {test})"
        ),
    }
)


class MonitorView(MonitorRow):
    """A monitor with the name of its host."""

    hostname: str | None


Found = TypeVar("Found", bound=MonitorRow)
_ROW = columns(MonitorRow)
_VIEW = f"{columns(MonitorRow, 'm.')}, h.hostname"
_FROM = "monitors m left join hosts h on h.id = m.host_id and h.deleted_at is null"
_SET = ", ".join(
    f"{name} = ?" for name in MonitorRow.__struct_fields__ if name not in ("id", "customer_id")
)
# What checks change, and nobody else.
SEEN = (
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
_SET_SEEN = ", ".join(f"{name} = ?" for name in SEEN)


def about(monitor_id: str) -> str:
    return f"monitor/{monitor_id}"


def sealed_config(tx: Tx, monitor_id: str, text: str) -> str:
    """A configuration as the database keeps it."""
    return sealed_values.seal_object(tx, about(monitor_id), text, hidden_fields(text))


def _kept(tx: Tx, row: MonitorRow) -> tuple[Any, ...]:
    kept = msgspec.structs.replace(row, config=sealed_config(tx, row.id, row.config))
    return msgspec.structs.astuple(kept)


def _clear(tx: Tx, rows: list[Found]) -> list[Found]:
    for row in rows:
        row.config = sealed_values.open_object(tx, about(row.id), row.config)
    return rows


def find(tx: Tx, customer_id: str, monitor_id: str, *, hold: bool = False) -> MonitorRow:
    """The monitor, held until the transaction ends where it is about to change."""
    found = tx.one(
        MonitorRow,
        f"select {_ROW} from monitors where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if hold else ''}",
        monitor_id,
        customer_id,
    )
    if found is None:
        raise missing()
    return _clear(tx, [found])[0]


def missing() -> NotFound:
    return NotFound("There is no such monitor.", code="monitor_not_found")


def view(tx: Tx, customer_id: str, monitor_id: str) -> MonitorView:
    found = tx.one(
        MonitorView,
        f"select {_VIEW} from {_FROM}"
        " where m.id = ? and m.customer_id = ? and m.deleted_at is null",
        monitor_id,
        customer_id,
    )
    if found is None:
        raise missing()
    return _clear(tx, [found])[0]


def fitted(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The same list, no longer than an answer may be."""
    seen, seen_params = visible(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    rows = tx.rows(
        f"select octet_length(m.config) + octet_length(m.last_event) from {_FROM}"
        f" where m.customer_id = ? and m.deleted_at is null and {seen}{sql.where}{sql.page}",
        *(actor.customer_id, *seen_params, *sql.params, *sql.page_params),
    )
    return response_budget.fitted(listing, (size for (size,) in rows))


def page(tx: Tx, actor: Actor, listing: Listing) -> list[MonitorView]:
    """Those that the actor may see: without an ACL every viewer does."""
    seen, seen_params = visible(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    found = tx.all(
        MonitorView,
        f"select {_VIEW} from {_FROM} where m.customer_id = ? and m.deleted_at is null"
        f" and {seen}{sql.where}{sql.page}",
        actor.customer_id,
        *seen_params,
        *sql.params,
        *sql.page_params,
    )
    return _clear(tx, found)


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    seen, seen_params = visible(actor, "monitor", "m.id", open_when_empty=True)
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from {_FROM} where m.customer_id = ? and m.deleted_at is null"
            f" and {seen}{sql.where}",
            actor.customer_id,
            *seen_params,
            *sql.params,
        )
    )


def acls(tx: Tx, customer_id: str) -> dict[str, list[str]]:
    """The entries of all monitors that have any."""
    found: dict[str, list[str]] = {}
    rows = tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'monitor'"
        " order by entry",
        customer_id,
    )
    for monitor_id, entry in rows:
        found.setdefault(monitor_id, []).append(entry)
    return found


def insert(tx: Tx, row: MonitorRow) -> None:
    marks = ", ".join("?" for _ in MonitorRow.__struct_fields__)
    tx.execute(f"insert into monitors ({_ROW}) values ({marks})", *_kept(tx, row))


def save(tx: Tx, row: MonitorRow) -> None:
    id_, customer_id, *others = _kept(tx, row)
    tx.execute(
        f"update monitors set {_SET} where id = ? and customer_id = ?", *others, id_, customer_id
    )


def save_seen(tx: Tx, rows: Iterable[MonitorRow]) -> None:
    """What was seen of several; their definitions stay untouched."""
    tx.execute_many(
        f"update monitors set {_SET_SEEN} where id = ? and customer_id = ?",
        [(*(getattr(row, name) for name in SEEN), row.id, row.customer_id) for row in rows],
    )


def mark_deleted(tx: Tx, row: MonitorRow) -> None:
    tx.execute(
        "update monitors set deleted_at = ?, due_at = null where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def of_host(tx: Tx, host_id: str, *, hold: bool = False) -> list[MonitorRow]:
    """Whoever asks has the host by its organization or by its agent's credential."""
    found = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where host_id = ? and deleted_at is null"
        f" order by id{tx.dialect.lock_rows if hold else ''}",
        host_id,
    )
    return _clear(tx, found)


def part_of_host(tx: Tx, host_id: str, after: str, limit: int) -> list[MonitorRow]:
    """Those of the host that follow this id, in the order of ids."""
    found = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where host_id = ? and deleted_at is null and id > ?"
        " order by id limit ?",
        host_id,
        after,
        limit,
    )
    return _clear(tx, found)


def some_of_host(tx: Tx, host_id: str, monitor_ids: Sequence[str]) -> list[MonitorRow]:
    """Those among the ids that are on this host."""
    found = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where id in {tx.dialect.in_texts} and host_id = ?"
        " and deleted_at is null",
        msgspec.json.encode(list(monitor_ids)).decode(),
        host_id,
    )
    return _clear(tx, found)


def chosen(tx: Tx, condition: str, *params: Any) -> list[MonitorRow]:
    """Live monitors of all organizations that satisfy a condition of the watchdog, held."""
    found = tx.all(
        MonitorRow,
        f"select {_ROW} from monitors where deleted_at is null and ({condition})"
        f" order by id{tx.dialect.lock_rows}",
        *params,
    )
    return _clear(tx, found)


def is_any(tx: Tx, condition: str, *params: Any) -> bool:
    found = tx.row(
        f"select 1 from monitors where deleted_at is null and ({condition}) limit 1", *params
    )
    return found is not None


def states(tx: Tx, customer_id: str, monitor_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """(state, type) of several, those that are there."""
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
