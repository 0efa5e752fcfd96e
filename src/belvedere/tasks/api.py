"""Tasks over HTTP."""

import msgspec

from belvedere.access.api.route_builders import acl_routes, credential_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.base.clock import Millis
from belvedere.files.service import MAX_CONTENT
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.patterns import matcher
from belvedere.rest.route import Reply, Route
from belvedere.tasks import service, store, versions
from belvedere.tasks.bodies import TaskBody
from belvedere.tasks.definition.validation import pattern_texts
from belvedere.tasks.records import TaskRecord, to_record
from belvedere.tasks.versions import TaskVersionRecord

# An inline script is a file.
MAX_BODY = MAX_CONTENT


class TimeoutBody(msgspec.Struct, forbid_unknown_fields=True):
    """Milliseconds; null is the default of ten minutes."""

    timeout: Millis | None


def _record(request: AnyRequest, task_view: service.TaskWithAcl) -> TaskRecord:
    view, acl = task_view
    return to_record(view, request.actor, acl)


async def list_tasks(request: Request[None]) -> Reply:
    query = dict(request.query)
    # The name of this filter in TheEye.
    if "host" in query:
        query["where[host_id]"] = query["host"]
    listing = filters.read(query, store.TASKS)
    listing = await run_search(request, store.fit_page, request.actor, listing)
    async with heavy_read(request, listing.size):
        views, total = await run_search(request, service.list_page, request.actor, listing)
        records = [_record(request, view) for view in views]
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> TaskRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def list_versions(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.TASKS)
    records, total = await run_search(request, versions.list_page, request.actor, listing)
    return pagination.page_reply(request, listing, records, total)


async def show_version(request: Request[None]) -> TaskVersionRecord:
    record: TaskVersionRecord = await request.services.db.read(
        versions.show, request.actor, request.path["id"]
    )
    return record


async def create(request: Request[TaskBody]) -> TaskRecord:
    await _prepare_patterns(request)
    view = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body
    )
    return _record(request, view)


async def replace(request: Request[TaskBody]) -> TaskRecord:
    return await _change(request, is_replacement=True)


async def change(request: Request[TaskBody]) -> TaskRecord:
    return await _change(request, is_replacement=False)


async def _prepare_patterns(request: AnyRequest) -> None:
    arguments = request.body.task_arguments
    if isinstance(arguments, list):
        await matcher.prepare(pattern_texts(arguments))


async def _change(request: AnyRequest, *, is_replacement: bool) -> TaskRecord:
    await _prepare_patterns(request)
    changed = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        request.body,
        request.if_match,
        is_replacement=is_replacement,
    )
    return _record(request, changed)


async def set_timeout(request: Request[TimeoutBody]) -> TaskRecord:
    changed = await request.services.db.write(
        service.set_timeout,
        request.actor,
        request.path["id"],
        request.body.timeout,
        request.if_match,
    )
    return _record(request, changed)


async def delete(request: Request[None]) -> TaskRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/task",
        "viewer",
        list_tasks,
        "List the tasks that you may see",
        answer=list[TaskRecord],
        compress=True,
        query=(*pagination.QUERY, ("host", "only tasks of this host id")),
    ),
    Route(
        "GET",
        "/task/version",
        "admin",
        list_versions,
        "List the versions of tasks",
        answer=list[TaskVersionRecord],
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/task/{id}/version",
        "viewer",
        show_version,
        "Show the version of a task",
        answer=TaskVersionRecord,
    ),
    Route("GET", "/task/{id}", "viewer", show, "Show a task", answer=TaskRecord),
    Route(
        "POST",
        "/task",
        "admin",
        create,
        "Create a task",
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
        from_interface=False,
    ),
    Route(
        "DELETE",
        "/task/{id}",
        "admin",
        delete,
        "Delete a task; its waiting jobs expire",
        answer=TaskRecord,
        codes=("task_in_use", "follows_definition"),
    ),
    *credential_routes("task", "/task/{id}/credentials", service.reveal, service.rotate),
    *acl_routes("task", "/task/{id}/acl", store.find),
)
