"""My inbox over HTTP. A token is nobody and has none."""

import msgspec

from belvedere.notifications import inbox, wishes
from belvedere.notifications.api import records
from belvedere.notifications.api.records import NotificationRecord, Read
from belvedere.notifications.wishes import Wishes
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search


async def listing(ask: Ask) -> Reply:
    asked = filters.read(ask.query, inbox.NOTIFICATIONS)
    found, total = await run_search(ask, inbox.listed, ask.actor, asked)
    return pagination.answer(ask, asked, [records.notification(one) for one in found], total)


async def read(ask: Ask) -> NotificationRecord:
    return await _mark(ask, is_read=True)


async def unread(ask: Ask) -> NotificationRecord:
    return await _mark(ask, is_read=False)


async def _mark(ask: Ask, *, is_read: bool) -> NotificationRecord:
    found = await ask.house.db.write(inbox.read, ask.actor, ask.path["id"], is_read=is_read)
    return records.notification(found)


async def read_all(ask: Ask) -> Read:
    return Read(await ask.house.db.write(inbox.read_all, ask.actor))


class WishesBody(msgspec.Struct, forbid_unknown_fields=True):
    """Kinds of events that shall not come."""

    muted: list[str]


async def show_wishes(ask: Ask) -> Wishes:
    found: Wishes = await ask.house.db.read(wishes.of, ask.actor)
    return found


async def put_wishes(ask: Ask) -> Wishes:
    changed: Wishes = await ask.house.db.write(wishes.put, ask.actor, ask.body.muted)
    return changed


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/notification",
        "viewer",
        listing,
        "My inbox, newest first",
        answer=list[NotificationRecord],
        known=False,
        people=True,
        query=pagination.QUERY,
    ),
    Route(
        "PUT",
        "/notification/read",
        "viewer",
        read_all,
        "Mark everything in my inbox as read",
        answer=Read,
        known=False,
        people=True,
    ),
    Route(
        "GET",
        "/notification/preferences",
        "viewer",
        show_wishes,
        "What may come into my inbox, and what of it I do not want",
        answer=Wishes,
        known=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/preferences",
        "viewer",
        put_wishes,
        "Say what shall not come into my inbox",
        body=WishesBody,
        answer=Wishes,
        known=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/{id}/read",
        "viewer",
        read,
        "Mark one as read",
        answer=NotificationRecord,
        known=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/{id}/unread",
        "viewer",
        unread,
        "Mark one as new again",
        answer=NotificationRecord,
        known=False,
        people=True,
    ),
)
