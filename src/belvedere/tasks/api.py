"""Tasks over HTTP."""

import msgspec

from belvedere.access.api.acl import acl_routes
from belvedere.access.api.api_secret import credential_routes
from belvedere.base.clock import Millis
from belvedere.files.service import MAX_CONTENT
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.patterns import matcher
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search
from belvedere.tasks import service, store
from belvedere.tasks.bodies import TaskBody
from belvedere.tasks.definition.validation import pattern_texts
from belvedere.tasks.records import TaskRecord, record

# An inline script is a file.
MAX_BODY = MAX_CONTENT


class TimeoutBody(msgspec.Struct, forbid_unknown_fields=True):
    """Milliseconds; null is the default of ten minutes."""

    timeout: Millis | None


def _record(ask: Ask, shown: service.Shown) -> msgspec.Struct:
    view, acl = shown
    return record(view, ask.actor, acl)


async def list_tasks(ask: Ask) -> Reply:
    query = dict(ask.query)
    # The original's own parameter for this.
    if "host" in query:
        query["where[host_id]"] = query["host"]
    listing = filters.read(query, store.TASKS)
    listing = await run_search(ask, store.fitted, ask.actor, listing)
    async with heavy_read(ask, listing.size):
        found, total = await run_search(ask, service.listed, ask.actor, listing)
        records = [_record(ask, one) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show(ask: Ask) -> msgspec.Struct:
    return _record(ask, await ask.house.db.read(service.show, ask.actor, ask.path["id"]))


async def create(ask: Ask) -> msgspec.Struct:
    await _prepare_patterns(ask)
    made = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body)
    return _record(ask, made)


async def replace(ask: Ask) -> msgspec.Struct:
    return await _change(ask, whole=True)


async def change(ask: Ask) -> msgspec.Struct:
    return await _change(ask, whole=False)


async def _prepare_patterns(ask: Ask) -> None:
    arguments = ask.body.task_arguments
    if isinstance(arguments, list):
        await matcher.prepare(pattern_texts(arguments))


async def _change(ask: Ask, *, whole: bool) -> msgspec.Struct:
    await _prepare_patterns(ask)
    changed = await ask.house.db.write(
        service.change, ask.actor, ask.path["id"], ask.body, ask.if_match, whole=whole
    )
    return _record(ask, changed)


async def set_timeout(ask: Ask) -> msgspec.Struct:
    changed = await ask.house.db.write(
        service.set_timeout, ask.actor, ask.path["id"], ask.body.timeout, ask.if_match
    )
    return _record(ask, changed)


async def delete(ask: Ask) -> msgspec.Struct:
    return _record(ask, await ask.house.db.write(service.delete, ask.actor, ask.path["id"]))


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/task",
        "viewer",
        list_tasks,
        "List the tasks that you may see",
        answer=list[TaskRecord],
        query=(*pagination.QUERY, ("host", "only tasks of this host id")),
    ),
    Route("GET", "/task/{id}", "viewer", show, "Show a task", answer=TaskRecord),
    Route(
        "POST",
        "/task",
        "admin",
        create,
        "Make a task",
        body=TaskBody,
        answer=TaskRecord,
        codes=("storage_quota",),
        max_body=MAX_BODY,
    ),
    Route(
        "PUT",
        "/task/{id}",
        "admin",
        replace,
        "Replace a task's definition",
        body=TaskBody,
        answer=TaskRecord,
        codes=("stale", "follows_definition", "storage_quota"),
        max_body=MAX_BODY,
    ),
    Route(
        "PATCH",
        "/task/{id}",
        "admin",
        change,
        "Change parts of a task's definition",
        body=TaskBody,
        answer=TaskRecord,
        codes=("stale", "follows_definition", "storage_quota"),
        max_body=MAX_BODY,
    ),
    Route(
        "PUT",
        "/api/task/{id}/timeout",
        "admin",
        set_timeout,
        "Change a task's timeout",
        style="plain",
        body=TimeoutBody,
        answer=TaskRecord,
        codes=("stale", "follows_definition"),
        known=False,
    ),
    Route(
        "DELETE",
        "/task/{id}",
        "admin",
        delete,
        "Delete a task; what waits for it expires",
        answer=TaskRecord,
        codes=("task_in_use", "follows_definition"),
    ),
    *credential_routes("task", "/task/{id}/credentials", service.reveal, service.rotate),
    *acl_routes("task", "/task/{id}/acl", store.find),
)
