"""A person's own settings over HTTP."""

from typing import Any

import msgspec

from belvedere.access.api.doors import plain
from belvedere.access.people import preferences
from belvedere.access.request import Request


class Preferences(msgspec.Struct, forbid_unknown_fields=True):
    """Whatever a console wants to find again: appearance, values given last. 32 KiB at most."""

    settings: dict[str, Any]


async def show(request: Request[None]) -> Preferences:
    return Preferences(await request.services.db.read(preferences.mine, request.actor))


async def put(request: Request[Preferences]) -> Preferences:
    kept = await request.services.db.write(preferences.put, request.actor, request.body.settings)
    return Preferences(kept)


ROUTES = (
    plain(
        "GET",
        "/api/session/preferences",
        "viewer",
        show,
        "My settings",
        answer=Preferences,
        known=False,
        people=True,
    ),
    plain(
        "PUT",
        "/api/session/preferences",
        "viewer",
        put,
        "Replace my settings",
        body=Preferences,
        answer=Preferences,
        known=False,
        people=True,
    ),
)
