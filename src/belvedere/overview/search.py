"""Search of all objects by name, tag or short id, and of jobs by the start of their id.

The history is not searched, only objects that people created (some thousands at most), and only
the best matches of each kind are read.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor, Level, visible_filter
from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import as_short_id
from belvedere.db import Tx
from belvedere.jobs import permissions, store
from belvedere.overview.rows.queries import runnable_ids
from belvedere.rest.listing import escaped

MAX_LENGTH = 200
MAX_WORDS = 8
MAX_LIMIT, DEFAULT_LIMIT = 100, 30
# Short ids have no index: only this many of the newest jobs are compared.
MAX_SHORT_ID_JOBS = 20_000
_ID = re.compile(r"[0-9a-f]{6,24}")


class SearchResult(msgspec.Struct):
    """A match. `detail`: its host, address or other text that tells it from others of its name."""

    kind: str
    id: str
    name: str
    detail: str
    state: str | None = None
    tags: list[str] = []
    may_run: bool = False


@dataclass(frozen=True, slots=True)
class _SearchSource:
    """Table and expressions to search for one kind of object. The alias of the table is `x`."""

    table: str
    name: str
    detail: str = "''"
    state: str = "null"
    # A JSON array, or empty.
    tags: str = "''"
    join: str = ""
    live: str = "x.deleted_at is null"
    acl: bool = False
    open_when_empty: bool = False
    level: Level = Level.VIEWER


_HOST = "left join hosts h on h.id = x.host_id and h.deleted_at is null"
_HOSTNAME = "coalesce(h.hostname, '')"
# The tags of a task are in the JSON of its definition.
_SPEC_TAGS = "case when x.spec like '%\"tags\"%' then {} else '' end"
# Equally good matches are listed in this order.
SOURCES = {
    "task": _SearchSource("tasks", "x.name", _HOSTNAME, "x.type", "{spec_tags}", _HOST, acl=True),
    "workflow": _SearchSource("workflows", "x.name", tags="x.tags", acl=True),
    "monitor": _SearchSource(
        *("monitors", "x.name", _HOSTNAME, "x.state", "x.tags", _HOST),
        acl=True,
        open_when_empty=True,
    ),
    "host": _SearchSource("hosts", "x.hostname", "x.ip", tags="x.tags"),
    "indicator": _SearchSource("indicators", "x.title", state="x.state", tags="x.tags", acl=True),
    "webhook": _SearchSource("webhooks", "x.name", live="1 = 1"),
    "schedule": _SearchSource("schedules", "x.name", "coalesce(x.repeat_every, '')", live="1 = 1"),
    "script": _SearchSource(
        *("files", "x.filename", "x.description", "null", "x.tags"),
        live="x.deleted_at is null and x.kind = 'Script'",
        level=Level.MANAGER,
    ),
    "member": _SearchSource(
        *("members", "case when u.name = '' then u.username else u.name end", "u.email"),
        state="x.level",
        tags="x.tags",
        join="join users u on u.id = x.user_id",
        live="1 = 1",
        level=Level.MANAGER,
    ),
}
KINDS = (*SOURCES, "job")


def search(
    tx: Tx, actor: Actor, text: str, kinds: Collection[str] = KINDS, limit: int = DEFAULT_LIMIT
) -> list[SearchResult]:
    """Objects that match every word of the text, the best match first."""
    words = _words(text)
    phrase = " ".join(words)
    ranked = [
        (
            _rank(result.name.lower(), phrase, words),
            n,
            len(result.name),
            result.name.lower(),
            result.id,
            result,
        )
        for n, kind in enumerate(SOURCES)
        if kind in kinds and actor.level.reaches(SOURCES[kind].level)
        for result in _matches(tx, actor, kind, words, limit)
    ]
    jobs = _jobs(tx, actor, phrase, limit) if "job" in kinds else []
    best = [*jobs, *(result for *_, result in sorted(ranked))][:limit]
    return _with_permissions(tx, actor, best)


def _words(text: str) -> list[str]:
    words = text.lower().split()
    if not words or len(text) > MAX_LENGTH or "\0" in text:
        message = f"Enter a search text of at most {MAX_LENGTH} characters."
        raise Invalid(message, code="bad_query", faults=(Fault("q", message),))
    return words[:MAX_WORDS]


def _rank(name: str, phrase: str, words: list[str]) -> int:
    """0 the name itself, 1 its start, 2 starts of its words, 3 inside the name, 4 elsewhere."""
    if name == phrase:
        return 0
    if name.startswith(phrase):
        return 1
    starts = re.split(r"[\s._/:@-]+", name)
    if all(any(start.startswith(word) for start in starts) for word in words):
        return 2
    return 3 if all(word in name for word in words) else 4


def _matches(tx: Tx, actor: Actor, kind: str, words: list[str], limit: int) -> list[SearchResult]:
    source = SOURCES[kind]
    spec_tags = _SPEC_TAGS.format(tx.dialect.json_text("x.spec", ["tags"]))
    tags = source.tags.replace("{spec_tags}", spec_tags)
    conditions, condition_params = _conditions(source, tags, words)
    visibility, visibility_params = _visibility(actor, kind)
    first = escaped(" ".join(words))
    rows = tx.rows(
        f"select x.id, {source.name}, {source.detail}, {source.state}, {tags} from {source.table} x"
        f" {source.join} where x.customer_id = ? and {source.live} and {visibility}{conditions}"
        f" order by case when lower({source.name}) like ? escape '\\' then 0"
        f" when lower({source.name}) like ? escape '\\' then 1 else 2 end,"
        f" lower({source.name}), x.id limit ?",
        *(
            actor.customer_id,
            *visibility_params,
            *condition_params,
            f"{first}%",
            f"%{first}%",
            limit,
        ),
    )
    return [
        SearchResult(kind, id_, name, detail, state, _tags(tags))
        for id_, name, detail, state, tags in rows
    ]


def _conditions(source: _SearchSource, tags: str, words: list[str]) -> tuple[str, list[str]]:
    """Each word must occur in one of them. The name is first because tags may need JSON parsing."""
    expressions = [source.name, source.detail, tags]
    condition = " or ".join(f"lower({expression}) like ? escape '\\'" for expression in expressions)
    params = [f"%{escaped(word)}%" for word in words for _ in expressions]
    short = as_short_id(words[0]) if len(words) == 1 else None
    if short is not None:
        return f" and ({condition} or x.id like ?)", [*params, f"%{short}"]
    return f" and ({condition})" * len(words), params


def _visibility(actor: Actor, kind: str) -> tuple[str, list[Any]]:
    source = SOURCES[kind]
    if kind == "schedule":
        tasks, task_params = visible_filter(actor, "task", "x.target_id")
        flows, flow_params = visible_filter(actor, "workflow", "x.target_id")
        # Ids are unique across tasks and workflows, so each predicate matches only its own kind.
        return f"({tasks} or {flows})", [*task_params, *flow_params]
    if not source.acl:
        return "1 = 1", []
    return visible_filter(actor, kind, "x.id", open_when_empty=source.open_when_empty)


def _tags(text: str | None) -> list[str]:
    return msgspec.json.decode(text, type=list[str]) if text else []


def _jobs(tx: Tx, actor: Actor, text: str, limit: int) -> list[SearchResult]:
    """By the first digits of the id, as a range of the index, or by the short id."""
    if not _ID.fullmatch(text.removeprefix("#")):
        return []
    condition, id_params = _job_ids(actor, text)
    visibility, params = permissions.visible_filter(actor, tx.dialect)
    rows = tx.rows(
        "select j.id, j.name, j.lifecycle, j.state from jobs j"
        f" join customers c on c.id = j.customer_id where j.customer_id = ? and {condition}"
        f" and {store.UNPURGED} and {visibility} order by j.id desc limit ?",
        *(actor.customer_id, *id_params, *params, limit),
    )
    return [
        SearchResult("job", id_, name, lifecycle, state) for id_, name, lifecycle, state in rows
    ]


def _job_ids(actor: Actor, text: str) -> tuple[str, list[str | int]]:
    short = as_short_id(text)
    if short is None:
        return "j.id >= ? and j.id < ?", [text, f"{text}g"]
    newest = "select id from jobs where customer_id = ? order by id desc limit ?"
    return (
        f"(j.id in (select id from ({newest}) newest where id like ?) or j.id >= ? and j.id < ?)",
        [actor.customer_id, MAX_SHORT_ID_JOBS, f"%{short}", short, f"{short}g"],
    )


def _with_permissions(tx: Tx, actor: Actor, results: list[SearchResult]) -> list[SearchResult]:
    for kind in ("task", "workflow"):
        ids = runnable_ids(
            tx, actor, kind, [result.id for result in results if result.kind == kind]
        )
        for result in results:
            result.may_run = result.may_run or result.id in ids
    return results
