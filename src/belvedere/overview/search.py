"""Search of all objects by name, tag or short id, and of jobs by the start of their id.

The history is not searched, only objects that people created (some thousands at most), and only
the best matches of each kind are read.
"""

import re
from collections.abc import Collection

import msgspec

from belvedere.access import Actor
from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import as_short_id
from belvedere.db import Tx
from belvedere.jobs import permissions, store
from belvedere.overview import objects
from belvedere.overview.objects import SOURCES, ObjectSource
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
    tags = source.tags_in(tx.dialect)
    conditions, condition_params = _conditions(source, tags, words)
    visibility, visibility_params = objects.visibility(actor, kind)
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
        SearchResult(kind, id_, name, detail, state, objects.decode_tags(tags))
        for id_, name, detail, state, tags in rows
    ]


def _conditions(source: ObjectSource, tags: str, words: list[str]) -> tuple[str, list[str]]:
    """Each word must occur in one of them. The name is first because tags may need JSON parsing."""
    expressions = [source.name, source.detail, tags]
    condition = " or ".join(f"lower({expression}) like ? escape '\\'" for expression in expressions)
    params = [f"%{escaped(word)}%" for word in words for _ in expressions]
    short = as_short_id(words[0]) if len(words) == 1 else None
    if short is not None:
        return f" and ({condition} or x.id like ?)", [*params, f"%{short}"]
    return f" and ({condition})" * len(words), params


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
