"""`/-/events`: what happens, live, to everybody who may see it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec

from belvedere import access, events
from belvedere.access.actor import Actor, Level
from belvedere.access.request import Request
from belvedere.base.clock import iso
from belvedere.base.errors import Invalid, Unauthenticated
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.events.kinds import KINDS
from belvedere.jobs import permissions
from belvedere.jobs.model import APPROVAL
from belvedere.rest.route import Reply, Route
from belvedere.server.api.event_backlog import MAX_BACKLOG, Backlog
from belvedere.server.http import authentication

log = logging.getLogger("belvedere.events")

Cursor = tuple[int, int]

RESYNC = b"event: resync\ndata: {}\n\n"
# A cursor that no log holds: who comes back with it begins again.
FORGET = b"id: 0.0\n"
PULSE_S = 15.0
# Objects whose events every member may see, and those for managers and above.
OPEN = frozenset({"host", "webhook", "notification"})


# What an event can be of.
TOPICS = frozenset(kind.partition(".")[0] for kind in KINDS)


class _Reader(msgspec.Struct):
    """Who listens, and the credential that was shown at the door."""

    runtime: Any
    actor: Actor
    token: str
    # Objects whose events are wanted; empty: all.
    topics: frozenset[str] = frozenset()


async def follow(request: Request[None]) -> Reply:
    last = request.starlette.headers.get("last-event-id") or request.first("last_event_id")
    headers = dict(request.starlette.scope["headers"])
    secure = request.starlette.scope["scheme"] == "https"
    token = authentication.token_of(headers, request.query, request.route, secure=secure)
    cursor = _cursor(last)
    # Read before anything is answered: whoever has the answer misses nothing from then on.
    newest = await request.services.db.read_inline(events.newest)
    is_known = cursor is not None and await request.services.db.read_inline(_holds, cursor, newest)
    start = cursor if cursor is not None and is_known else newest
    reader = _Reader(request.services, request.actor, token or "", _topics(request.first("topics")))
    body = _live(reader, start, is_new=cursor is not None and not is_known)
    return Reply(body, headers={"x-accel-buffering": "no"}, media_type="text/event-stream")


def _topics(text: str | None) -> frozenset[str]:
    asked = frozenset((text or "").split(",")) - {""}
    if asked - TOPICS:
        names = ", ".join(sorted(TOPICS))
        raise Invalid(f"topics are {names}, separated by commas.", code="invalid_query")
    return asked


def _cursor(text: str | None) -> Cursor | None:
    if not text:
        return None
    xid, _, event_id = text.partition(".")
    # The number of the transaction is below zero for events from before a restore.
    parts = (xid.removeprefix("-"), event_id)
    if not all(part.isdecimal() and len(part) <= 19 for part in parts):
        raise Invalid("Last-Event-ID is not one of ours.", code="invalid_query")
    return int(xid), int(event_id)


def _holds(tx: Tx, cursor: Cursor, newest: Cursor) -> bool:
    """Whether the log still has everything after the cursor. One beyond its end comes from before
    a backup was restored."""
    oldest = tx.row(f"select xid, id from events order by {tx.dialect.in_order} limit 1")
    return cursor <= newest and (oldest is None or cursor >= (oldest[0], oldest[1] - 1))


async def _live(reader: _Reader, start: Cursor, *, is_new: bool) -> AsyncIterator[bytes]:
    backlog = Backlog()
    feed = reader.runtime.feed
    restarts = feed.restarts
    stop = await feed.listen(partial(_put, reader, backlog))
    try:
        # With an id, so that a reader who is cut off before the first event knows where to go on.
        mark = f"id: {start[0]}.{start[1]}\n"
        yield mark.encode() + RESYNC if is_new else f": welcome\n{mark}\n".encode()
        async for batch in _news(reader, start, backlog):
            if feed.restarts != restarts:
                yield FORGET + RESYNC
                return
            if backlog.is_over or not await _is_in(reader):
                # What this reader may see has changed, or it is too slow: it must look anew. The
                # connection ends, so that the next one is let in with today's rights.
                yield RESYNC
                return
            yield await _shown(reader, batch) if batch else b": still here\n\n"
    finally:
        stop()


def _put(reader: _Reader, backlog: Backlog, batch: list[Event]) -> None:
    was_over = backlog.is_over
    backlog.put(batch)
    if backlog.is_over and not was_over:
        actor = reader.actor
        log.warning(
            "event stream reader too slow; disconnecting address=%s user=%s limit=%d",
            *(actor.address, actor.user_id, MAX_BACKLOG),
        )


async def _news(reader: _Reader, cursor: Cursor, backlog: Backlog) -> AsyncIterator[list[Event]]:
    """What the log has after the cursor, then what happens; nothing, when it is time for a sign."""
    while found := await reader.runtime.db.read(events.after, *cursor):
        cursor = (found[-1].xid, found[-1].id)
        yield found
    while True:
        found = await _heard(backlog)
        fresh = [event for event in found if (event.xid, event.id) > cursor]
        if fresh:
            cursor = (fresh[-1].xid, fresh[-1].id)
        if fresh or not found:
            yield fresh


async def _heard(backlog: Backlog) -> list[Event]:
    try:
        # Not wait_for, which may swallow a cancel that comes with an event.
        async with asyncio.timeout(PULSE_S):
            return await backlog.take()
    except TimeoutError:
        return []


async def _is_in(reader: _Reader) -> bool:
    """Whether the credential is still good, for the same person with the same rights."""
    runtime = reader.runtime
    try:
        now = await runtime.credentials.actor(reader.token, runtime.clock())
    except Unauthenticated:
        return False
    return bool(msgspec.structs.replace(now, address=reader.actor.address) == reader.actor)


async def _shown(reader: _Reader, found: list[Event]) -> bytes:
    """The visible ones; at least the id, so that a reader's cursor moves on."""
    actor, topics = reader.actor, reader.topics
    mine = [
        event
        for event in found
        if event.customer_id == actor.customer_id and (not topics or event.object in topics)
    ]
    if mine and not actor.sees_all:
        mine = await reader.runtime.db.read(_visible, actor, mine)
    last = found[-1]
    return b"".join(map(_told, mine)) + f"id: {last.xid}.{last.id}\n\n".encode()


def _told(event: Event) -> bytes:
    body = msgspec.json.encode(
        {
            "kind": event.kind,
            "object": event.object,
            "object_id": event.object_id,
            "at": iso(event.at),
            "data": msgspec.Raw(event.data.encode()),
        }
    )
    return f"id: {event.xid}.{event.id}\nevent: {event.kind}\ndata: ".encode() + body + b"\n\n"


def _visible(tx: Tx, actor: Actor, found: list[Event]) -> list[Event]:
    seen: dict[tuple[str, str], bool] = {}
    return [event for event in found if _may_see(tx, actor, event, seen)]


def _may_see(tx: Tx, actor: Actor, event: Event, seen: dict[tuple[str, str], bool]) -> bool:
    if actor.level is Level.AGENT:
        return False
    if event.object in OPEN:
        return True
    data = msgspec.json.decode(event.data)
    if data.get("user_id") and data["user_id"] == actor.user_id:
        return True
    if event.object == "view":
        return bool(data["shared"])
    if event.object == "monitor":
        acl = access.acl_of(tx, actor.customer_id, "monitor", event.object_id)
        return access.may_see(actor, acl, open_when_empty=True)
    if event.object in ("task", "workflow", "indicator"):
        about = (event.object, event.object_id)
    elif event.object == "job" and data.get("workflow_id"):
        about = ("workflow", data["workflow_id"])
    elif event.object == "job":
        about = ("task", data.get("task_id") or "")
    elif event.object == "schedule":
        about = (data["target"], data["target_id"])
    else:
        return False
    if about not in seen:
        seen[about] = access.may_see(actor, access.acl_of(tx, actor.customer_id, *about))
    if not seen[about] and data.get("type") == APPROVAL:
        return permissions.sees(tx, actor, event.object_id)
    return seen[about]


ROUTES = (
    Route(
        "GET",
        "/-/events",
        "viewer",
        follow,
        "What happens, live, as server-sent events.",
        style="plain",
        known=False,
        answer=bytes,
        media=("text/event-stream",),
        query=(
            ("last_event_id", "go on after this event; also the header Last-Event-ID"),
            ("topics", "only events of these, separated by commas, such as job,monitor"),
        ),
    ),
)
