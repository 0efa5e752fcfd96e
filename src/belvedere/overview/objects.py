"""The kinds of objects that have names: their tables, and who may see them."""

from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor, Level, visible_filter
from belvedere.db.interface import Dialect


@dataclass(frozen=True, slots=True)
class ObjectSource:
    """Table and expressions of one kind of object. The alias of the table is `x`."""

    table: str
    name: str
    # A host, an address or another text that distinguishes it from others with this name.
    detail: str = "''"
    # The type of a task, the level of a member.
    state: str = "null"
    # A JSON array, or empty.
    tags: str = "''"
    join: str = ""
    live: str = "x.deleted_at is null"
    acl: bool = False
    open_when_empty: bool = False
    level: Level = Level.VIEWER

    def tags_in(self, dialect: Dialect) -> str:
        spec_tags = _SPEC_TAGS.format(dialect.json_text("x.spec", ["tags"]))
        return self.tags.replace("{spec_tags}", spec_tags)


_HOST = "left join hosts h on h.id = x.host_id and h.deleted_at is null"
_HOSTNAME = "coalesce(h.hostname, '')"
# The tags of a task are in the JSON of its definition.
_SPEC_TAGS = "case when x.spec like '%\"tags\"%' then {} else '' end"
# Equally good matches are listed in this order.
SOURCES: dict[str, ObjectSource] = {
    "task": ObjectSource("tasks", "x.name", _HOSTNAME, "x.type", "{spec_tags}", _HOST, acl=True),
    "workflow": ObjectSource("workflows", "x.name", tags="x.tags", acl=True),
    "monitor": ObjectSource(
        *("monitors", "x.name", _HOSTNAME, "x.state", "x.tags", _HOST),
        acl=True,
        open_when_empty=True,
    ),
    "host": ObjectSource("hosts", "x.hostname", "x.ip", tags="x.tags"),
    "indicator": ObjectSource("indicators", "x.title", state="x.state", tags="x.tags", acl=True),
    "webhook": ObjectSource("webhooks", "x.name", live="1 = 1"),
    "schedule": ObjectSource("schedules", "x.name", "coalesce(x.repeat_every, '')", live="1 = 1"),
    "script": ObjectSource(
        *("files", "x.filename", "x.description", "null", "x.tags"),
        live="x.deleted_at is null and x.kind = 'Script'",
        level=Level.MANAGER,
    ),
    "member": ObjectSource(
        *("members", "case when u.name = '' then u.username else u.name end", "u.email"),
        state="x.level",
        tags="x.tags",
        join="join users u on u.id = x.user_id",
        live="1 = 1",
        level=Level.MANAGER,
    ),
}


def visibility(actor: Actor, kind: str) -> tuple[str, list[Any]]:
    """The condition on `x` that the actor may see the object, and its parameters."""
    source = SOURCES[kind]
    if kind == "schedule":
        tasks, task_params = visible_filter(actor, "task", "x.target_id")
        flows, flow_params = visible_filter(actor, "workflow", "x.target_id")
        # Ids are unique across tasks and workflows, so each predicate matches only its own kind.
        return f"({tasks} or {flows})", [*task_params, *flow_params]
    if not source.acl:
        return "1 = 1", []
    return visible_filter(actor, kind, "x.id", open_when_empty=source.open_when_empty)


def decode_tags(text: str | None) -> list[str]:
    return msgspec.json.decode(text, type=list[str]) if text else []
