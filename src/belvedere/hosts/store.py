"""The rows of hosts."""

from functools import cache

import msgspec

from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.db.interface import Dialect
from belvedere.db.ports import Port
from belvedere.hosts.model import AgentHostRow, HostRow
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

STATE = (
    "case when enabled = 0 then 'disabled' when connected_at is null then 'offline'"
    " when gone_at is not null then 'unreachable' when draining = 1 then 'draining'"
    " else 'online' end"
)
_FIELDS = {
    "id": Field("id"),
    "_id": Field("id"),
    "hostname": Field("hostname", is_name=True),
    "ip": Field("ip"),
    "os_name": Field("os_name"),
    "os_version": Field("os_version"),
    "agent_version": Field("agent_version"),
    "state": Field(STATE),
    "enable": Field("enabled", FieldKind.BOOL),
    "disabled": Field("(1 - enabled)", FieldKind.BOOL),
    "draining": Field("draining", FieldKind.BOOL),
    "slots": Field("slots", FieldKind.INT),
    "version": Field("version", FieldKind.INT),
    "last_seen": Field("seen_at", FieldKind.TIME),
    "creation_date": Field("created_at", FieldKind.TIME),
    "last_update": Field("updated_at", FieldKind.TIME),
}


@cache
def listable(dialect: Dialect) -> Listable:
    """What a list of hosts can be filtered and sorted by."""
    tags = dialect.json_values("hosts.tags", "t", "")
    has_tag = f"exists (select 1 from {tags} where t.value {{test}})"
    return Listable(fields={**_FIELDS, "tags": Field(has_tag)})


_HOST, _AGENT_HOST = columns(HostRow), columns(AgentHostRow)
# (host): the registration of a TheEye agent is no longer valid.
delete_registration: Port[[Tx, str], None] = Port("hosts.delete_registration")


def find(tx: Tx, customer_id: str, host_id: str, *, lock: bool = False) -> HostRow:
    """The host; `lock` locks its row until the end of the transaction."""
    row = tx.one(
        HostRow,
        f"select {_HOST} from hosts where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if lock else ''}",
        host_id,
        customer_id,
    )
    if row is None:
        raise NotFound("There is no such host.", code="host_not_found")
    return row


def find_by_name(tx: Tx, customer_id: str, hostname: str, *, lock: bool = False) -> HostRow | None:
    """The host with this name, case-insensitively."""
    if "\0" in hostname:
        # No host has such a name, and PostgreSQL rejects such a parameter.
        return None
    return tx.one(
        HostRow,
        f"select {_HOST} from hosts"
        " where customer_id = ? and hostname_key = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if lock else ''}",
        customer_id,
        hostname.lower(),
    )


def for_agent(tx: Tx, host_id: str) -> AgentHostRow:
    """The host that the credential of an agent belongs to, locked."""
    row = tx.one(
        AgentHostRow,
        f"select {_AGENT_HOST} from hosts where id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows}",
        host_id,
    )
    if row is None:
        raise NotFound("This host was deleted; enrol it again.", code="host_not_found")
    return row


def by_ids(tx: Tx, customer_id: str, host_ids: list[str]) -> list[HostRow]:
    """The hosts with these ids that exist."""
    return tx.all(
        HostRow,
        f"select {_HOST} from hosts where customer_id = ? and deleted_at is null"
        f" and id in {tx.dialect.in_texts} order by id",
        customer_id,
        tags_text(host_ids),
    )


def for_tag(tx: Tx, customer_id: str, tag: str) -> list[HostRow]:
    """Hosts with the tag, oldest first."""
    written = tags_text([tag])[1:-1]
    for sign in ("\\", "%", "_"):
        written = written.replace(sign, f"\\{sign}")
    rows = tx.all(
        HostRow,
        f"select {_HOST} from hosts where customer_id = ? and deleted_at is null"
        " and tags like ? escape '\\' order by id",
        customer_id,
        f"%{written}%",
    )
    # `like` also finds tags that contain this text.
    return [row for row in rows if tag in row.labels]


def insert(tx: Tx, customer_id: str, hostname: str, fingerprint: str, ip: str) -> HostRow:
    """A new host; if another transaction has just taken the name, this transaction is retried."""
    host_id = new_id()
    tx.execute(
        "insert into hosts (id, customer_id, hostname, hostname_key, fingerprint, ip, created_at,"
        " updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        host_id,
        customer_id,
        hostname,
        hostname.lower(),
        fingerprint,
        ip,
        tx.now,
        tx.now,
    )
    return find(tx, customer_id, host_id)


def save(tx: Tx, row: HostRow) -> None:
    """Write the fields that people can change."""
    tx.execute(
        "update hosts set hostname = ?, hostname_key = ?, enabled = ?, draining = ?, tags = ?,"
        " version = ?, updated_at = ? where id = ? and customer_id = ?",
        row.hostname,
        row.hostname.lower(),
        row.enabled,
        row.draining,
        row.tags,
        row.version,
        row.updated_at,
        row.id,
        row.customer_id,
    )


def rebind(tx: Tx, row: HostRow, fingerprint: str) -> None:
    """Bind the host to another agent; messages of the old connection are ignored from now on."""
    tx.execute(
        "update hosts set fingerprint = ?, session = session + 1, connected_at = null,"
        " version = version + 1, updated_at = ? where id = ? and customer_id = ?",
        fingerprint,
        tx.now,
        row.id,
        row.customer_id,
    )
    # The client of a TheEye agent that had the host could register for it again otherwise.
    delete_registration(tx, row.id)


def mark_deleted(tx: Tx, row: HostRow) -> None:
    tx.execute(
        "update hosts set deleted_at = ?, connected_at = null, session = session + 1"
        " where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def select_page(tx: Tx, customer_id: str, listing: Listing) -> list[HostRow]:
    sql = clauses(listing)
    return tx.all(
        HostRow,
        f"select {_HOST} from hosts where customer_id = ? and deleted_at is null"
        f"{sql.where}{sql.page}",
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def count(tx: Tx, customer_id: str, listing: Listing) -> int:
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from hosts where customer_id = ? and deleted_at is null{sql.where}",
            customer_id,
            *sql.params,
        )
    )


def tags_text(tags: list[str]) -> str:
    return msgspec.json.encode(tags).decode()
