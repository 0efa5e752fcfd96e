"""A person's own settings over HTTP."""

from typing import Any

import msgspec

from belvedere.access.api.doors import plain
from belvedere.access.people import preferences
from belvedere.rest.route import Ask


class Preferences(msgspec.Struct, forbid_unknown_fields=True):
    """Whatever a console wants to find again: appearance, values given last. 32 KiB at most."""

    settings: dict[str, Any]


async def show(ask: Ask) -> Preferences:
    return Preferences(await ask.house.db.read(preferences.mine, ask.actor))


async def put(ask: Ask) -> Preferences:
    kept = await ask.house.db.write(preferences.put, ask.actor, ask.body.settings)
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
