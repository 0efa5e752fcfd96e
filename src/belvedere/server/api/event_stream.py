"""`/-/events`: live events that the reader may see, as server-sent events."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from functools import partial

import msgspec

from belvedere import access, events
from belvedere.access.actor import Actor, Level
from belvedere.access.request import Request
from belvedere.base.clock import iso
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.events import Event, budget
from belvedere.events.kinds import KINDS
from belvedere.jobs import permissions
from belvedere.jobs.model import APPROVAL
from belvedere.jobs.people import participants
from belvedere.rest.route import Reply, Route
from belvedere.server.api.event_backlog import MAX_BACKLOG, Backlog
from belvedere.server.http import authentication
from belvedere.server.runtime import ServerRuntime, runtime_of

log = logging.getLogger("belvedere.events")

Cursor = tuple[int, int]

# The reader has to read everything again; the reason is one of those in events.md.
RESYNC = b'event: resync\ndata: {"reason":"%s"}\n\n'
# A cursor that is in no event log: a reader that reconnects with it starts again.
RESET_CURSOR = b"id: 0.0\n"
KEEPALIVE_S = 15.0
# Objects whose events every member may see.
PUBLIC_OBJECTS = frozenset({"host", "webhook", "notification"})


# The objects that have events.
TOPICS = frozenset(kind.partition(".")[0] for kind in KINDS)


class _Reader(msgspec.Struct):
    """The reader of a stream, and the credential of its request."""

    runtime: ServerRuntime
    actor: Actor
    token: str
    # Objects whose events are sent; empty: all.
    topics: frozenset[str] = frozenset()


async def follow(request: Request[None]) -> Reply:
    last = request.starlette.headers.get("last-event-id") or request.first("last_event_id")
    token = authentication.token_of_request(request)
    cursor = _cursor(last)
    # Read before the response starts: the reader misses no event after it.
    newest = await request.services.db.read_inline(events.newest)
    topics = _topics(request.first("topics"))
    is_known = cursor is not None and await request.services.db.read_inline(
        _holds, cursor, newest, request.actor.customer_id, topics
    )
    start = cursor if cursor is not None and is_known else newest
    reader = _Reader(runtime_of(request), request.actor, token, topics)
    body = _live(reader, start, is_new=cursor is not None and not is_known)
    return Reply(body, headers={"x-accel-buffering": "no"}, media_type="text/event-stream")


def _topics(text: str | None) -> frozenset[str]:
    topics = frozenset((text or "").split(",")) - {""}
    if topics - TOPICS:
        names = ", ".join(sorted(TOPICS))
        raise Invalid(f"topics are {names}, separated by commas.", code="invalid_query")
    return topics


def _cursor(text: str | None) -> Cursor | None:
    if not text:
        return None
    xid, _, event_id = text.partition(".")
    # The number of the transaction is below zero for events from before a restore.
    parts = (xid.removeprefix("-"), event_id)
    if not all(part.isdecimal() and len(part) <= 19 for part in parts):
        raise Invalid("Last-Event-ID is not an id of this server.", code="invalid_query")
    return int(xid), int(event_id)


def _holds(
    tx: Tx, cursor: Cursor, newest: Cursor, customer_id: str, topics: frozenset[str]
) -> bool:
    """Whether the log still has everything after the cursor. A cursor beyond its end is from a time
    before a backup was restored."""
    oldest = tx.row(f"select xid, id from events order by {tx.dialect.in_order} limit 1")
    if cursor > newest or (oldest is not None and cursor < (oldest[0], oldest[1] - 1)):
        return False
    return not budget.has_deleted_after(tx, customer_id, topics, cursor)


async def _live(reader: _Reader, start: Cursor, *, is_new: bool) -> AsyncIterator[bytes]:
    backlog = Backlog()
    feed = reader.runtime.feed
    restarts = feed.restarts
    stop = await feed.listen(partial(_put, reader, backlog))
    try:
        # With an id, so that a reader that is disconnected before the first event can continue.
        mark = f"id: {start[0]}.{start[1]}\n"
        yield mark.encode() + RESYNC % b"too_old" if is_new else f": welcome\n{mark}\n".encode()
        async for batch in _batches(reader, start, backlog):
            if feed.restarts != restarts:
                yield RESET_CURSOR + RESYNC % b"restored"
                return
            if backlog.is_over:
                yield RESYNC % b"too_slow"
                return
            if not await _is_current(reader):
                # On a new connection it gets its current permissions.
                yield RESYNC % b"permissions_changed"
                return
            yield await _frames(reader, batch) if batch else b": still here\n\n"
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


async def _batches(reader: _Reader, cursor: Cursor, backlog: Backlog) -> AsyncIterator[list[Event]]:
    """Events of the log after the cursor, then new ones; an empty list for a keepalive."""
    while batch := await reader.runtime.db.read(events.after, *cursor):
        cursor = (batch[-1].xid, batch[-1].id)
        yield batch
    while True:
        batch = await _next_batch(backlog)
        new_events = [event for event in batch if (event.xid, event.id) > cursor]
        if new_events:
            cursor = (new_events[-1].xid, new_events[-1].id)
        if new_events or not batch:
            yield new_events


async def _next_batch(backlog: Backlog) -> list[Event]:
    try:
        # Not wait_for, which may swallow a cancellation that arrives with an event.
        async with asyncio.timeout(KEEPALIVE_S):
            return await backlog.take()
    except TimeoutError:
        return []


async def _is_current(reader: _Reader) -> bool:
    """Whether the credential is still valid, for the same actor with the same permissions."""
    runtime = reader.runtime
    current: bool = await runtime.credentials.is_current(
        reader.token, reader.actor, runtime.clock()
    )
    return current


async def _frames(reader: _Reader, batch: list[Event]) -> bytes:
    """The visible events; at least the last id, so that the reader's cursor advances."""
    actor, topics = reader.actor, reader.topics
    visible_events = [
        event
        for event in batch
        if event.customer_id == actor.customer_id and (not topics or event.object in topics)
    ]
    if visible_events and not actor.sees_all:
        visible_events = await reader.runtime.db.read(_visible, actor, visible_events)
    last = batch[-1]
    return b"".join(map(_frame, visible_events)) + f"id: {last.xid}.{last.id}\n\n".encode()


def _frame(event: Event) -> bytes:
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


def _visible(tx: Tx, actor: Actor, batch: list[Event]) -> list[Event]:
    decisions: dict[tuple[str, str], bool] = {}
    job_ids = {event.object_id for event in batch if event.object == "job"}
    # Jobs with their own ACL or with assignees.
    special = participants.with_any(tx, job_ids) if job_ids else set()
    return [
        _without_acl(event) for event in batch if _may_see(tx, actor, event, decisions, special)
    ]


def _without_acl(event: Event) -> Event:
    """Below manager, members see no e-mail addresses of others."""
    if not event.kind.endswith(".acl_changed"):
        return event
    return msgspec.structs.replace(event, data="{}")


def _may_see(
    tx: Tx,
    actor: Actor,
    event: Event,
    decisions: dict[tuple[str, str], bool],
    special_jobs: Collection[str],
) -> bool:
    if actor.level is Level.AGENT:
        return False
    if event.object in PUBLIC_OBJECTS:
        return True
    data = msgspec.json.decode(event.data)
    if data.get("user_id") and data["user_id"] == actor.user_id:
        return True
    if event.object == "job" and event.object_id in special_jobs:
        return permissions.may_see(tx, actor, event.object_id)
    if event.object == "view":
        return bool(data["shared"])
    if event.object == "monitor":
        acl = access.acl_of(tx, actor.customer_id, "monitor", event.object_id)
        return access.may_see(actor, acl, open_when_empty=True)
    if event.object in ("task", "workflow", "indicator"):
        acl_object = (event.object, event.object_id)
    elif event.object == "job" and data.get("workflow_id"):
        acl_object = ("workflow", data["workflow_id"])
    elif event.object == "job":
        acl_object = ("task", data.get("task_id") or "")
    elif event.object == "schedule":
        acl_object = (data["target"], data["target_id"])
    else:
        return False
    if acl_object not in decisions:
        decisions[acl_object] = access.may_see(
            actor, access.acl_of(tx, actor.customer_id, *acl_object)
        )
    if not decisions[acl_object] and data.get("type") == APPROVAL:
        return permissions.may_see(tx, actor, event.object_id)
    return decisions[acl_object]


ROUTES = (
    Route(
        "GET",
        "/-/events",
        "viewer",
        follow,
        "Stream events as server-sent events",
        style="plain",
        from_interface=False,
        answer=bytes,
        media=("text/event-stream",),
        query=(
            ("last_event_id", "continue after this event; also as the header Last-Event-ID"),
            ("topics", "only events of these objects, separated by commas, such as job,monitor"),
        ),
    ),
)
