"""The rows of indicators."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.files.usage import FileUse
from belvedere.indicators.model import KIND_NAMES, MAX_COUNT, Action, IndicatorRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

_KIND = " ".join(f"when '{type}' then '{name}'" for type, name in KIND_NAMES.items())
INDICATORS = Listable(
    fields={
        "id": Field("id"),
        "title": Field("title", is_name=True),
        "name": Field("title", is_name=True),
        "type": Field("type"),
        "_type": Field(f"case type {_KIND} end"),
        "state": Field("state"),
        "severity": Field("severity"),
        "read_only": Field("read_only", FieldKind.BOOL),
        "enable": Field("enabled", FieldKind.BOOL),
        "alerts": Field("alerts", FieldKind.BOOL),
        "sticky": Field("sticky", FieldKind.BOOL),
        "order": Field("place", FieldKind.INT),
        "version": Field("version", FieldKind.INT),
        "user_id": Field("user_id"),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = indicators.customer_id"
            " and a.object = 'indicator' and a.object_id = indicators.id and a.entry {test})"
        ),
    }
)
MAX_LOOKUPS = 200
_ROW = columns(IndicatorRow)
_SET = ", ".join(
    f"{name} = ?" for name in IndicatorRow.__struct_fields__ if name not in ("id", "customer_id")
)
# The next value of a counter, computed by the database, with limits where counting ends.
_NEXT_COUNT = {
    Action.INCREASE: f"case when number_value < {MAX_COUNT} then number_value + 1"
    " else number_value end",
    Action.DECREASE: "case when number_value >= 1 then number_value - 1"
    " when number_value > 0 then 0 else number_value end",
    Action.RESTART: "1",
}


def find(
    tx: Tx, customer_id: str, name: str, *, by: str = "id", lock: bool = False
) -> IndicatorRow:
    """The indicator with this id or title; with `lock`, its row is locked."""
    row = find_or_none(tx, customer_id, name, by=by, lock=lock)
    if row is None:
        raise not_found()
    return row


def find_or_none(
    tx: Tx, customer_id: str, name: str, *, by: str, lock: bool = False
) -> IndicatorRow | None:
    assert by in ("id", "title")
    return tx.one(
        IndicatorRow,
        f"select {_ROW} from indicators where {by} = ? and customer_id = ?"
        f" and deleted_at is null{tx.dialect.lock_rows if lock else ''}",
        name,
        customer_id,
    )


def not_found() -> NotFound:
    return NotFound("There is no such indicator.", code="indicator_not_found")


def find_by_link(tx: Tx, digest: str) -> IndicatorRow | None:
    """The indicator of a public link, if its organization is enabled."""
    return tx.one(
        IndicatorRow,
        f"select {columns(IndicatorRow, 'i.')} from indicators i"
        " join customers c on c.id = i.customer_id"
        " where i.public_digest = ? and i.deleted_at is null and c.enabled = 1",
        digest,
    )


def insert(tx: Tx, row: IndicatorRow) -> None:
    marks = ", ".join("?" for _ in IndicatorRow.__struct_fields__)
    tx.execute(f"insert into indicators ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))


def save(tx: Tx, row: IndicatorRow) -> None:
    id_, customer_id, *others = msgspec.structs.astuple(row)
    tx.execute(
        f"update indicators set {_SET} where id = ? and customer_id = ?", *others, id_, customer_id
    )


def update_counter(
    tx: Tx, customer_id: str, name: str, action: Action, *, by: str
) -> IndicatorRow | None:
    """Change a counter in one statement, so that concurrent requests cannot interfere."""
    assert by in ("id", "title")
    return tx.one(
        IndicatorRow,
        f"update indicators set number_value = {_NEXT_COUNT[action]}, pushed_at = ?,"
        " stale_at = ? + ttl, stale_told = 0, version = version + 1, updated_at = ?"
        f" where {by} = ? and customer_id = ? and type = 'counter' and deleted_at is null"
        f" returning {_ROW}",
        tx.now,
        tx.now,
        tx.now,
        name,
        customer_id,
    )


def mark_deleted(tx: Tx, row: IndicatorRow) -> None:
    tx.execute(
        "update indicators set deleted_at = ?, public_digest = null"
        " where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def fit_to_budget(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The same listing, cut to the size limit of a response."""
    visible_sql, visible_params = visible_filter(actor, "indicator", "id")
    sql = clauses(listing)
    rows = tx.rows(
        "select 2 * octet_length(text_value) from indicators where customer_id = ?"
        f" and deleted_at is null and {visible_sql}{sql.where}{sql.page}",
        *(actor.customer_id, *visible_params, *sql.params, *sql.page_params),
    )
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def select_page(tx: Tx, actor: Actor, listing: Listing) -> list[IndicatorRow]:
    """A page of the indicators that the actor may see."""
    visible_sql, visible_params = visible_filter(actor, "indicator", "id")
    sql = clauses(listing)
    return tx.all(
        IndicatorRow,
        f"select {_ROW} from indicators where customer_id = ? and deleted_at is null"
        f" and {visible_sql}{sql.where}{sql.page}",
        actor.customer_id,
        *visible_params,
        *sql.params,
        *sql.page_params,
    )


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    visible_sql, visible_params = visible_filter(actor, "indicator", "id")
    sql = clauses(listing)
    return int(
        tx.value(
            "select count(*) from indicators where customer_id = ? and deleted_at is null"
            f" and {visible_sql}{sql.where}",
            actor.customer_id,
            *visible_params,
            *sql.params,
        )
    )


def acls(tx: Tx, customer_id: str, indicator_ids: Sequence[str]) -> dict[str, list[str]]:
    """ACL entries of several indicators, by id."""
    entries: dict[str, list[str]] = {indicator_id: [] for indicator_id in indicator_ids}
    id_filter, params = f" and object_id in {tx.dialect.in_texts}", [_json_text(list(entries))]
    if len(entries) > MAX_LOOKUPS:
        # Looking up each id costs more than reading all entries of the organization.
        id_filter, params = "", []
    for indicator_id, entry in tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'indicator'"
        f"{id_filter} order by entry",
        customer_id,
        *params,
    ):
        if indicator_id in entries:
            entries[indicator_id].append(entry)
    return entries


def _json_text(values: list[str]) -> str:
    return msgspec.json.encode(values).decode()


def mark_stale(tx: Tx, limit: int) -> list[IndicatorRow]:
    """Indicators whose ttl has expired and that are not published as stale yet; they are marked."""
    rows = tx.all(
        IndicatorRow,
        f"select {_ROW} from indicators where stale_told = 0 and stale_at <= ?"
        f" and deleted_at is null order by stale_at limit ?{tx.dialect.skip_locked}",
        tx.now,
        limit,
    )
    tx.execute_many(
        "update indicators set stale_told = 1 where id = ? and customer_id = ?",
        [(row.id, row.customer_id) for row in rows],
    )
    return rows


def has_newly_stale(tx: Tx) -> bool:
    row = tx.row(
        "select 1 from indicators where stale_told = 0 and stale_at <= ?"
        " and deleted_at is null limit 1",
        tx.now,
    )
    return row is not None


def deleted_before(tx: Tx, moment: Millis, limit: int) -> list[tuple[str, str]]:
    rows = tx.rows(
        "select id, customer_id from indicators where deleted_at < ? order by deleted_at limit ?",
        moment,
        limit,
    )
    return [(indicator_id, customer_id) for indicator_id, customer_id in rows]


def purge(tx: Tx, customer_id: str, indicator_id: str) -> None:
    tx.execute("delete from indicator_values where indicator_id = ?", indicator_id)
    tx.execute("delete from indicators where id = ? and customer_id = ?", indicator_id, customer_id)


def uses_of_file(tx: Tx, customer_id: str, file_id: str) -> list[FileUse]:
    """The indicators that show this file."""
    return tx.all(
        FileUse,
        "select id, title as name, type, 'Indicator' as model from indicators"
        " where customer_id = ? and type = 'file' and text_value = ? and deleted_at is null"
        " order by id",
        customer_id,
        file_id,
    )
