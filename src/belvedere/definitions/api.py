"""Definitions over HTTP."""

from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.definitions import service, store
from belvedere.definitions.model import DefinitionRecord, DefinitionView, to_record
from belvedere.definitions.service import DefinitionBody
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.patterns import matcher
from belvedere.rest.route import Reply, Route
from belvedere.tasks.bodies import raw_patterns


def _record(request: AnyRequest, view: DefinitionView) -> DefinitionRecord:
    return to_record(view, request.actor.customer_name)


async def list_definitions(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.DEFINITIONS)
    listing = await run_search(request, store.fit_page, request.actor.customer_id, listing)
    async with heavy_read(request, listing.size):
        views, total = await run_search(request, service.list_page, request.actor, listing)
        records = [_record(request, view) for view in views]
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> DefinitionRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[DefinitionBody]) -> Reply:
    await matcher.prepare(raw_patterns(request.body.definition))
    view = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body
    )
    return Reply(_record(request, view), status=201)


async def change(request: Request[DefinitionBody]) -> DefinitionRecord:
    await matcher.prepare(raw_patterns(request.body.definition))
    view = await request.services.db.write(
        service.change,
        request.services.keyring,
        request.actor,
        request.path["id"],
        request.body,
        request.if_match,
    )
    return _record(request, view)


async def delete(request: Request[None]) -> DefinitionRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/definition",
        "admin",
        list_definitions,
        "List definitions",
        answer=list[DefinitionRecord],
        query=pagination.QUERY,
        from_interface=False,
    ),
    Route(
        "GET",
        "/definition/{id}",
        "admin",
        show,
        "Show a definition and what it has created",
        answer=DefinitionRecord,
        from_interface=False,
    ),
    Route(
        "POST",
        "/definition",
        "admin",
        create,
        "Define a task or monitor for every host with a tag",
        body=DefinitionBody,
        answer=DefinitionRecord,
        codes=("storage_quota",),
        from_interface=False,
        max_body=33 << 20,
    ),
    Route(
        "PUT",
        "/definition/{id}",
        "admin",
        change,
        "Change a definition and everything that it has created",
        body=DefinitionBody,
        answer=DefinitionRecord,
        codes=("stale", "task_in_use", "storage_quota"),
        from_interface=False,
        max_body=33 << 20,
    ),
    Route(
        "DELETE",
        "/definition/{id}",
        "admin",
        delete,
        "Delete a definition and everything that it has created",
        answer=DefinitionRecord,
        codes=("task_in_use",),
        from_interface=False,
    ),
)
