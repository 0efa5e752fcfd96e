"""Incidents that people post on a status page, with their updates."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.base.clock import DAY, Millis, iso, iso_or_none, parse_iso
from belvedere.base.errors import Conflict, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.rest import text_fields
from belvedere.statuspages import mailings, service

MAX_INCIDENTS = 200
MAX_UPDATES = 50
MAX_TITLE = 120
MAX_TEXT = 4_000
# Resolved incidents leave the public page and the feed after this time.
PUBLIC_SPAN = 90 * DAY
MAX_PUBLIC = 20
STATES = ("investigating", "identified", "monitoring", "resolved")
IMPACTS = ("outage", "notice")
RESOLVED = "resolved"


class PostedUpdate(msgspec.Struct):
    """What was known at a time. The text is plain text."""

    date: str
    state: str
    text: str


class PostedIncident(msgspec.Struct):
    """`impact`: an outage makes the state of the page a failure, a notice does not."""

    id: str
    title: str
    impact: str
    state: str
    started: str
    ended: str | None
    updates: list[PostedUpdate]


class PostedIncidentRow(msgspec.Struct):
    """A row of `statuspage_incidents`, in the order of the select."""

    id: str
    customer_id: str
    statuspage_id: str
    title: str
    impact: str
    state: str
    updates: str
    started_at: Millis
    ended_at: Millis | None
    updated_at: Millis

    @property
    def update_list(self) -> list[PostedUpdate]:
        return msgspec.json.decode(self.updates, type=list[PostedUpdate])


class UpdateBody(msgspec.Struct, forbid_unknown_fields=True):
    """`notify: false` sends no mail to subscribers."""

    text: str
    state: str = STATES[0]
    notify: bool = True


class PostBody(UpdateBody, forbid_unknown_fields=True, kw_only=True):
    """`started` is in the past; the default is now."""

    title: str
    impact: str = IMPACTS[0]
    started: str | UnsetType = UNSET


_ROW = columns(PostedIncidentRow)


def list_posts(tx: Tx, actor: Actor, page_id: str) -> list[PostedIncidentRow]:
    """All incidents of the page, newest first."""
    page = service.show(tx, actor, page_id)
    return _newest(tx, page.id, MAX_INCIDENTS, since=0)


def public_posts(tx: Tx, page_id: str) -> list[PostedIncident]:
    rows = _newest(tx, page_id, MAX_PUBLIC, since=tx.now - PUBLIC_SPAN)
    return [to_record(row) for row in rows]


def post(tx: Tx, actor: Actor, page_id: str, body: PostBody) -> PostedIncidentRow:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id, lock=True)
    sql = "select count(*) from statuspage_incidents where statuspage_id = ?"
    if tx.value(sql, page.id) >= MAX_INCIDENTS:
        message = f"The page has {MAX_INCIDENTS} incidents, which is the limit; delete one first."
        raise Conflict(message, code="too_many_incidents")
    row = PostedIncidentRow(
        id=new_id(),
        customer_id=page.customer_id,
        statuspage_id=page.id,
        title=text_fields.line("title", body.title, least=1, most=MAX_TITLE),
        impact=_choice("impact", body.impact, IMPACTS),
        state="",
        updates="[]",
        started_at=_started(tx, body.started),
        ended_at=None,
        updated_at=tx.now,
    )
    _add(tx, row, body)
    marks = ", ".join("?" for _ in PostedIncidentRow.__struct_fields__)
    values = msgspec.structs.astuple(row)
    tx.execute(f"insert into statuspage_incidents ({_ROW}) values ({marks})", *values)
    _record_change(tx, actor, row, "post", None)
    if body.notify:
        mailings.add(tx, page, row.title, row.state, body.text)
    return row


def update(
    tx: Tx, actor: Actor, page_id: str, incident_id: str, body: UpdateBody
) -> PostedIncidentRow:
    """Add an update. The state `resolved` ends the incident, another state reopens it."""
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id, lock=True)
    row = _find(tx, page.id, incident_id)
    before = msgspec.to_builtins(to_record(row))
    if len(row.update_list) >= MAX_UPDATES:
        message = f"The incident has {MAX_UPDATES} updates, which is the limit; post a new one."
        raise Conflict(message, code="too_many_updates")
    _add(tx, row, body)
    tx.execute(
        "update statuspage_incidents set state = ?, updates = ?, ended_at = ?, updated_at = ?"
        " where id = ?",
        *(row.state, row.updates, row.ended_at, row.updated_at, row.id),
    )
    _record_change(tx, actor, row, "resolve" if row.state == RESOLVED else "update", before)
    if body.notify:
        mailings.add(tx, page, row.title, row.state, body.text)
    return row


def delete(tx: Tx, actor: Actor, page_id: str, incident_id: str) -> PostedIncidentRow:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id, lock=True)
    row = _find(tx, page.id, incident_id)
    tx.execute("delete from statuspage_incidents where id = ?", row.id)
    _record_change(tx, actor, row, "delete", msgspec.to_builtins(to_record(row)))
    return row


def to_record(row: PostedIncidentRow) -> PostedIncident:
    return PostedIncident(
        row.id,
        row.title,
        row.impact,
        row.state,
        iso(row.started_at),
        iso_or_none(row.ended_at),
        row.update_list[::-1],
    )


def _newest(tx: Tx, page_id: str, limit: int, since: Millis) -> list[PostedIncidentRow]:
    return tx.all(
        PostedIncidentRow,
        f"select {_ROW} from statuspage_incidents where statuspage_id = ?"
        " and (ended_at is null or ended_at > ?) order by started_at desc, id desc limit ?",
        *(page_id, since, limit),
    )


def _find(tx: Tx, page_id: str, incident_id: str) -> PostedIncidentRow:
    row = tx.one(
        PostedIncidentRow,
        f"select {_ROW} from statuspage_incidents where id = ? and statuspage_id = ?",
        *(incident_id, page_id),
    )
    if row is None:
        raise NotFound("There is no such incident.", code="incident_not_found")
    return row


def _add(tx: Tx, row: PostedIncidentRow, body: UpdateBody) -> None:
    row.state = _choice("state", body.state, STATES)
    text = text_fields.prose("text", body.text, most=MAX_TEXT).strip()
    if not text:
        raise text_fields.invalid_field("text", "This is required.")
    updates = [*row.update_list, PostedUpdate(iso(tx.now), row.state, text)]
    row.updates = msgspec.json.encode(updates).decode()
    row.ended_at, row.updated_at = tx.now if row.state == RESOLVED else None, tx.now


def _choice(field: str, text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise text_fields.invalid_field(field, f"Use one of: {', '.join(choices)}.")
    return text


def _started(tx: Tx, text: str | UnsetType) -> Millis:
    if text is UNSET:
        return tx.now
    try:
        at = parse_iso(text)
    except ValueError:
        raise text_fields.invalid_field("started", "Use a time in ISO 8601.") from None
    if not 0 <= at <= tx.now:
        raise text_fields.invalid_field("started", "Use a time in the past.")
    return at


def _record_change(
    tx: Tx, actor: Actor, row: PostedIncidentRow, action: str, before: dict[str, Any] | None
) -> None:
    after = None if action == "delete" else msgspec.to_builtins(to_record(row))
    entry = (f"statuspage.incident_{action}", "statuspage", row.statuspage_id)
    audit.record(tx, actor, *entry, before, after)
    data = {"incident_id": row.id, "title": row.title, "state": row.state}
    kind = f"statuspage.incident_{action}{'d' if action.endswith('e') else 'ed'}"
    events.append(tx, row.customer_id, kind, row.statuspage_id, data)
