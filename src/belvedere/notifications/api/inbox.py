"""Endpoints of the caller's inbox. A token is not a person and has no inbox."""

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import read_list
from belvedere.notifications import inbox
from belvedere.notifications.api import records
from belvedere.notifications.api.records import NotificationRecord, ReadCount
from belvedere.notifications.inbox import InboxPreferences
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route


async def list_notifications(request: Request[None]) -> Reply:
    listing = filters.read(request.query, inbox.NOTIFICATIONS)
    page = await read_list(request, listing, inbox.read_page, request.actor)
    notifications = [records.notification(row) for row in page.records]
    return pagination.answer_page(request, listing, page, records=notifications)


async def read(request: Request[None]) -> NotificationRecord:
    return await _mark(request, is_read=True)


async def unread(request: Request[None]) -> NotificationRecord:
    return await _mark(request, is_read=False)


async def _mark(request: AnyRequest, *, is_read: bool) -> NotificationRecord:
    row = await request.services.db.write(
        inbox.mark_read, request.actor, request.path["id"], is_read=is_read
    )
    return records.notification(row)


async def read_all(request: Request[None]) -> ReadCount:
    return ReadCount(await request.services.db.write(inbox.mark_all_read, request.actor))


class InboxPreferencesBody(msgspec.Struct, forbid_unknown_fields=True):
    """Kinds of events that do not appear in the inbox."""

    muted: list[str]


async def show_preferences(request: Request[None]) -> InboxPreferences:
    preferences: InboxPreferences = await request.services.db.read(inbox.preferences, request.actor)
    return preferences


async def change_preferences(request: Request[InboxPreferencesBody]) -> InboxPreferences:
    preferences: InboxPreferences = await request.services.db.write(
        inbox.change_preferences, request.actor, request.body.muted
    )
    return preferences


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/notification",
        "viewer",
        list_notifications,
        "List my inbox, newest first",
        answer=list[NotificationRecord],
        from_interface=False,
        people=True,
        query=pagination.QUERY,
    ),
    Route(
        "PUT",
        "/notification/read",
        "viewer",
        read_all,
        "Mark everything in my inbox as read",
        answer=ReadCount,
        from_interface=False,
        people=True,
    ),
    Route(
        "GET",
        "/notification/preferences",
        "viewer",
        show_preferences,
        "Show which kinds of events appear in my inbox",
        answer=InboxPreferences,
        from_interface=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/preferences",
        "viewer",
        change_preferences,
        "Choose which kinds of events do not appear in my inbox",
        body=InboxPreferencesBody,
        answer=InboxPreferences,
        from_interface=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/{id}/read",
        "viewer",
        read,
        "Mark a notification as read",
        answer=NotificationRecord,
        from_interface=False,
        people=True,
    ),
    Route(
        "PUT",
        "/notification/{id}/unread",
        "viewer",
        unread,
        "Mark a notification as unread",
        answer=NotificationRecord,
        from_interface=False,
        people=True,
    ),
)
