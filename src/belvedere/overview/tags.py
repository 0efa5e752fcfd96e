"""`GET /tag`: every tag in use."""

from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.rest.query import invalid_query
from belvedere.rest.route import Route


class TagRecord(msgspec.Struct):
    """A tag has only a name; it exists while an object has it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    name: str


@dataclass(frozen=True, slots=True)
class _TaggedTable:
    """A table whose rows have tags."""

    table: str
    # Its name in the ACL; empty: every member may see it.
    object: str = ""
    open_when_empty: bool = False
    level: Level = Level.VIEWER

    @property
    def name(self) -> str:
        """As clients call it."""
        return self.table.removesuffix("s")


_TAGGED_TABLES = (
    _TaggedTable("tasks", "task"),
    _TaggedTable("workflows", "workflow"),
    _TaggedTable("monitors", "monitor", open_when_empty=True),
    _TaggedTable("indicators", "indicator"),
    _TaggedTable("hosts"),
    _TaggedTable("files", level=Level.MANAGER),
)
_OBJECTS = [tagged.name for tagged in _TAGGED_TABLES]
_tags = msgspec.json.Decoder(list[str]).decode


async def list_tags(request: Request[None]) -> list[TagRecord]:
    object = request.query.get("object", [""])[-1]
    if object and object not in _OBJECTS:
        raise invalid_query("object", f"object must be one of {', '.join(_OBJECTS)}.")
    names = await run_search(request, tags, request.actor, object)
    return [TagRecord(name, name, name) for name in names]


def tags(tx: Tx, actor: Actor, object: str = "") -> list[str]:
    """Tags of everything that the actor may see, or of one kind of it, in alphabetical order."""
    require(actor, Level.VIEWER)
    names: set[str] = set()
    for tagged in _TAGGED_TABLES:
        if object in ("", tagged.name) and actor.level.reaches(tagged.level):
            names.update(*map(_tags, _texts(tx, actor, tagged)))
    return sorted(names, key=lambda name: (name.lower(), name))


def _texts(tx: Tx, actor: Actor, tagged: _TaggedTable) -> list[str]:
    # The tags of a task are in the JSON of its definition.
    column = tx.dialect.json_text("spec", ["tags"]) if tagged.table == "tasks" else "tags"
    visibility, params = (
        visible_filter(actor, tagged.object, "id", open_when_empty=tagged.open_when_empty)
        if tagged.object
        else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select distinct {column} from {tagged.table}"
        f" where customer_id = ? and deleted_at is null and {visibility}",
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
        "List the tags of everything that you may see",
        answer=list[TagRecord],
        query=(("object", f"only of one kind: {', '.join(_OBJECTS)}"),),
    ),
)
