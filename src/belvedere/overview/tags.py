"""`GET /tag`: every tag that stands on something."""

from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level, require, visible
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.rest.route import Route


class TagRecord(msgspec.Struct):
    """A tag is its name; it is there while something carries it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    name: str


@dataclass(frozen=True, slots=True)
class _Carrier:
    """A table whose rows carry tags."""

    table: str
    # What the ACL calls it; empty: everybody sees it.
    object: str = ""
    open_when_empty: bool = False
    level: Level = Level.VIEWER


_CARRIERS = (
    _Carrier("tasks", "task"),
    _Carrier("workflows", "workflow"),
    _Carrier("monitors", "monitor", open_when_empty=True),
    _Carrier("indicators", "indicator"),
    _Carrier("hosts"),
    _Carrier("files", level=Level.MANAGER),
)
_tags = msgspec.json.Decoder(list[str]).decode


async def list_tags(request: Request[None]) -> list[TagRecord]:
    found = await run_search(request, tags, request.actor)
    return [TagRecord(name, name, name) for name in found]


def tags(tx: Tx, actor: Actor) -> list[str]:
    """Of everything that the actor may see, in the order of letters."""
    require(actor, Level.VIEWER)
    found: set[str] = set()
    for carrier in _CARRIERS:
        if actor.level.reaches(carrier.level):
            found.update(*map(_tags, _texts(tx, actor, carrier)))
    return sorted(found, key=lambda name: (name.lower(), name))


def _texts(tx: Tx, actor: Actor, of: _Carrier) -> list[str]:
    # The tags of a task are in its definition.
    column = tx.dialect.json_text("spec", "tags") if of.table == "tasks" else "tags"
    seen, params = (
        visible(actor, of.object, "id", open_when_empty=of.open_when_empty)
        if of.object
        else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select distinct {column} from {of.table}"
        f" where customer_id = ? and deleted_at is null and {seen}",
        actor.customer_id,
        *params,
    )
    return [text for (text,) in rows if text]


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/tag",
        "viewer",
        list_tags,
        "Every tag of what you may see",
        answer=list[TagRecord],
    ),
)
