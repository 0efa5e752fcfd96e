"""Finding anything by its name or a tag, and jobs by the start of their id.

History is not searched: what is looked through are the things that people have made, some
thousands at most, and of each kind only the best matches are read.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor, Level, visible
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.jobs import permissions, store
from belvedere.overview.rows.rights import runnable
from belvedere.rest.listing import escaped

LONGEST = 200
MOST_WORDS = 8
MOST, USUAL = 100, 30
_ID = re.compile(r"[0-9a-f]{6,24}")


class Found(msgspec.Struct):
    """Something that fits. `detail`: where it is, or what distinguishes it from its namesakes."""

    kind: str
    id: str
    name: str
    detail: str
    state: str | None = None
    tags: list[str] = []
    may_run: bool = False


@dataclass(frozen=True, slots=True)
class _Sort:
    """Where one kind is looked for. `x` is its table."""

    table: str
    name: str
    detail: str = "''"
    state: str = "null"
    # JSON, or empty.
    tags: str = "''"
    join: str = ""
    live: str = "x.deleted_at is null"
    acl: bool = False
    open_when_empty: bool = False
    level: Level = Level.VIEWER


_HOST = "left join hosts h on h.id = x.host_id and h.deleted_at is null"
_HOSTNAME = "coalesce(h.hostname, '')"
# The tags of a task are in its definition. `like` is cheaper than parsing it.
_TAGS_OF_SPEC = "case when x.spec like '%\"tags\"%' then {} else '' end"
# The order is that of equally good matches.
SORTS = {
    "task": _Sort("tasks", "x.name", _HOSTNAME, "x.type", "{of_spec}", _HOST, acl=True),
    "workflow": _Sort("workflows", "x.name", tags="x.tags", acl=True),
    "monitor": _Sort(
        *("monitors", "x.name", _HOSTNAME, "x.state", "x.tags", _HOST),
        acl=True,
        open_when_empty=True,
    ),
    "host": _Sort("hosts", "x.hostname", "x.ip", tags="x.tags"),
    "indicator": _Sort("indicators", "x.title", state="x.state", tags="x.tags", acl=True),
    "webhook": _Sort("webhooks", "x.name", live="1 = 1"),
    "schedule": _Sort("schedules", "x.name", "coalesce(x.repeat_every, '')", live="1 = 1"),
    "script": _Sort(
        *("files", "x.filename", "x.description", "null", "x.tags"),
        live="x.deleted_at is null and x.kind = 'Script'",
        level=Level.MANAGER,
    ),
    "member": _Sort(
        *("members", "case when u.name = '' then u.username else u.name end", "u.email"),
        state="x.level",
        tags="x.tags",
        join="join users u on u.id = x.user_id",
        live="1 = 1",
        level=Level.MANAGER,
    ),
}
KINDS = (*SORTS, "job")


def search(
    tx: Tx, actor: Actor, text: str, kinds: Collection[str] = KINDS, most: int = USUAL
) -> list[Found]:
    """What fits every word of the text, the best first."""
    words = _words(text)
    whole = " ".join(words)
    ranked = [
        (_rank(one.name.lower(), whole, words), n, len(one.name), one.name.lower(), one.id, one)
        for n, kind in enumerate(SORTS)
        if kind in kinds and actor.level.reaches(SORTS[kind].level)
        for one in _of_kind(tx, actor, kind, words, most)
    ]
    jobs = _jobs(tx, actor, whole, most) if "job" in kinds else []
    best = [*jobs, *(one for *_, one in sorted(ranked))][:most]
    return _with_rights(tx, actor, best)


def _words(text: str) -> list[str]:
    words = text.lower().split()
    if not words or len(text) > LONGEST or "\0" in text:
        message = f"Say what to look for, in at most {LONGEST} characters."
        raise Invalid(message, code="bad_query", faults=(Fault("q", message),))
    return words[:MOST_WORDS]


def _rank(name: str, whole: str, words: list[str]) -> int:
    """0 the name itself, 1 its beginning, 2 beginnings of words in it, 3 within, 4 elsewhere."""
    if name == whole:
        return 0
    if name.startswith(whole):
        return 1
    starts = re.split(r"[\s._/:@-]+", name)
    if all(any(start.startswith(word) for start in starts) for word in words):
        return 2
    return 3 if all(word in name for word in words) else 4


def _of_kind(tx: Tx, actor: Actor, kind: str, words: list[str], most: int) -> list[Found]:
    sort = SORTS[kind]
    tags = sort.tags.replace(
        "{of_spec}", _TAGS_OF_SPEC.format(tx.dialect.json_text("x.spec", "tags"))
    )
    fits, fit_params = _fits(sort, tags, words)
    seen, seen_params = _seen(actor, kind)
    first = escaped(" ".join(words))
    rows = tx.rows(
        f"select x.id, {sort.name}, {sort.detail}, {sort.state}, {tags} from {sort.table} x"
        f" {sort.join} where x.customer_id = ? and {sort.live} and {seen}{fits}"
        f" order by case when lower({sort.name}) like ? escape '\\' then 0"
        f" when lower({sort.name}) like ? escape '\\' then 1 else 2 end, lower({sort.name}), x.id"
        " limit ?",
        *(actor.customer_id, *seen_params, *fit_params, f"{first}%", f"%{first}%", most),
    )
    return [
        Found(kind, id_, name, detail, state, _tags(tags))
        for id_, name, detail, state, tags in rows
    ]


def _fits(sort: _Sort, tags: str, words: list[str]) -> tuple[str, list[str]]:
    """Each word somewhere. The name is looked at first: tags may have to be dug out."""
    places = [sort.name, sort.detail, tags]
    one = " or ".join(f"lower({place}) like ? escape '\\'" for place in places)
    params = [f"%{escaped(word)}%" for word in words for _ in places]
    return f" and ({one})" * len(words), params


def _seen(actor: Actor, kind: str) -> tuple[str, list[Any]]:
    sort = SORTS[kind]
    if kind == "schedule":
        tasks, task_params = visible(actor, "task", "x.target_id")
        flows, flow_params = visible(actor, "workflow", "x.target_id")
        # Ids of tasks and workflows differ, so either predicate finds only its own.
        return f"({tasks} or {flows})", [*task_params, *flow_params]
    if not sort.acl:
        return "1 = 1", []
    return visible(actor, kind, "x.id", open_when_empty=sort.open_when_empty)


def _tags(text: str | None) -> list[str]:
    return msgspec.json.decode(text, type=list[str]) if text else []


def _jobs(tx: Tx, actor: Actor, text: str, most: int) -> list[Found]:
    """By the first digits of the id: a range of the index."""
    if not _ID.fullmatch(text):
        return []
    seen, params = permissions.visible(actor, tx.dialect)
    rows = tx.rows(
        "select j.id, j.name, j.lifecycle, j.state from jobs j"
        " join customers c on c.id = j.customer_id where j.customer_id = ? and j.id >= ?"
        f" and j.id < ? and {store.UNPURGED} and {seen} order by j.id desc limit ?",
        *(actor.customer_id, text, f"{text}g", *params, most),
    )
    return [Found("job", id_, name, lifecycle, state) for id_, name, lifecycle, state in rows]


def _with_rights(tx: Tx, actor: Actor, best: list[Found]) -> list[Found]:
    for kind in ("task", "workflow"):
        may = runnable(tx, actor, kind, [one.id for one in best if one.kind == kind])
        for one in best:
            one.may_run = one.may_run or one.id in may
    return best
