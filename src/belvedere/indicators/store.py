"""The rows of indicators."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, visible
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.indicators.model import KIND_NAMES, MAX_COUNT, Action, IndicatorRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses

_KIND = " ".join(f"when '{type}' then '{name}'" for type, name in KIND_NAMES.items())
INDICATORS = Listable(
    fields={
        "id": Field("id"),
        "title": Field("title"),
        "name": Field("title"),
        "type": Field("type"),
        "_type": Field(f"case type {_KIND} end"),
        "state": Field("state"),
        "severity": Field("severity"),
        "read_only": Field("read_only", Kind.BOOL),
        "enable": Field("enabled", Kind.BOOL),
        "alerts": Field("alerts", Kind.BOOL),
        "sticky": Field("sticky", Kind.BOOL),
        "order": Field("place", Kind.INT),
        "version": Field("version", Kind.INT),
        "user_id": Field("user_id"),
        "creation_date": Field("created_at", Kind.TIME),
        "last_update": Field("updated_at", Kind.TIME),
        "acl": Field(
            "exists (select 1 from acl a where a.customer_id = indicators.customer_id"
            " and a.object = 'indicator' and a.object_id = indicators.id and a.entry {test})"
        ),
    }
)
MANY = 200
_ROW = columns(IndicatorRow)
_SET = ", ".join(
    f"{name} = ?" for name in IndicatorRow.__struct_fields__ if name not in ("id", "customer_id")
)
# Each stops where counting on would mean nothing, and counts what is there, not what was read.
_NEXT = {
    Action.INCREASE: f"case when number_value < {MAX_COUNT} then number_value + 1"
    " else number_value end",
    Action.DECREASE: "case when number_value >= 1 then number_value - 1"
    " when number_value > 0 then 0 else number_value end",
    Action.RESTART: "1",
}


def find(
    tx: Tx, customer_id: str, name: str, *, by: str = "id", hold: bool = False
) -> IndicatorRow:
    """The indicator with this id (or title), held where it is about to change."""
    found = look_up(tx, customer_id, name, by=by, hold=hold)
    if found is None:
        raise missing()
    return found


def look_up(
    tx: Tx, customer_id: str, name: str, *, by: str, hold: bool = False
) -> IndicatorRow | None:
    assert by in ("id", "title")
    return tx.one(
        IndicatorRow,
        f"select {_ROW} from indicators where {by} = ? and customer_id = ?"
        f" and deleted_at is null{tx.dialect.lock_rows if hold else ''}",
        name,
        customer_id,
    )


def missing() -> NotFound:
    return NotFound("There is no such indicator.", code="indicator_not_found")


def by_link(tx: Tx, digest: str) -> IndicatorRow | None:
    """What a public link shows, as long as its organization is enabled."""
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


def count_on(
    tx: Tx, customer_id: str, name: str, action: Action, *, by: str
) -> IndicatorRow | None:
    """One step of a counter, in one statement: whoever else counts cannot get between."""
    assert by in ("id", "title")
    return tx.one(
        IndicatorRow,
        f"update indicators set number_value = {_NEXT[action]}, pushed_at = ?,"
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


def fitted(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The same list, no longer than an answer may be."""
    seen, seen_params = visible(actor, "indicator", "id")
    sql = clauses(listing)
    rows = tx.rows(
        "select 2 * octet_length(text_value) from indicators where customer_id = ?"
        f" and deleted_at is null and {seen}{sql.where}{sql.page}",
        *(actor.customer_id, *seen_params, *sql.params, *sql.page_params),
    )
    return response_budget.fitted(listing, (size for (size,) in rows))


def page(tx: Tx, actor: Actor, listing: Listing) -> list[IndicatorRow]:
    """Those that the actor may see."""
    seen, seen_params = visible(actor, "indicator", "id")
    sql = clauses(listing)
    return tx.all(
        IndicatorRow,
        f"select {_ROW} from indicators where customer_id = ? and deleted_at is null"
        f" and {seen}{sql.where}{sql.page}",
        actor.customer_id,
        *seen_params,
        *sql.params,
        *sql.page_params,
    )


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    seen, seen_params = visible(actor, "indicator", "id")
    sql = clauses(listing)
    return int(
        tx.value(
            "select count(*) from indicators where customer_id = ? and deleted_at is null"
            f" and {seen}{sql.where}",
            actor.customer_id,
            *seen_params,
            *sql.params,
        )
    )


def acls(tx: Tx, customer_id: str, indicator_ids: Sequence[str]) -> dict[str, list[str]]:
    """The entries of several indicators at once."""
    found: dict[str, list[str]] = {indicator_id: [] for indicator_id in indicator_ids}
    named, params = f" and object_id in {tx.dialect.in_texts}", [_json_text(list(found))]
    if len(found) > MANY:
        # Looking each up costs more than reading all that the organization has.
        named, params = "", []
    for indicator_id, entry in tx.rows(
        "select object_id, entry from acl where customer_id = ? and object = 'indicator'"
        f"{named} order by entry",
        customer_id,
        *params,
    ):
        if indicator_id in found:
            found[indicator_id].append(entry)
    return found


def _json_text(values: list[str]) -> str:
    return msgspec.json.encode(values).decode()


# What time does to them


def going_stale(tx: Tx, limit: int) -> list[IndicatorRow]:
    """Those that have been silent too long, marked as told."""
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


def any_going_stale(tx: Tx) -> bool:
    found = tx.row(
        "select 1 from indicators where stale_told = 0 and stale_at <= ?"
        " and deleted_at is null limit 1",
        tx.now,
    )
    return found is not None


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
