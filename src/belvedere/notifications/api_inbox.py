"""My inbox over HTTP. A token is nobody and has none."""

from belvedere.notifications import inbox, record
from belvedere.notifications.record import NotificationRecord, Read
from belvedere.rest import filters, lists
from belvedere.rest.route import Ask, Reply, Route


async def listing(ask: Ask) -> Reply:
    asked = filters.read(ask.query, inbox.NOTIFICATIONS)
    found, total = await ask.house.db.read(inbox.listed, ask.actor, asked)
    return lists.answer(ask, asked, [record.notification(one) for one in found], total)


async def read(ask: Ask) -> NotificationRecord:
    return await _mark(ask, is_read=True)


async def unread(ask: Ask) -> NotificationRecord:
    return await _mark(ask, is_read=False)


async def _mark(ask: Ask, *, is_read: bool) -> NotificationRecord:
    found = await ask.house.db.write(inbox.read, ask.actor, ask.path["id"], is_read=is_read)
    return record.notification(found)


async def read_all(ask: Ask) -> Read:
    return Read(await ask.house.db.write(inbox.read_all, ask.actor))


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
        query=lists.QUERY,
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
