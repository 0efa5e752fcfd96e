"""Workflows over HTTP: definitions and secret keys. The routes of their jobs are in `runs_api`."""

from belvedere.access.api.route_builders import acl_routes, credential_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Handler, Reply, Route
from belvedere.schedules.api.schedules import schedule_routes
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Graph
from belvedere.workflows import bodies, service
from belvedere.workflows.bodies import WorkflowRequest
from belvedere.workflows.graphlib_format import GraphlibGraph, to_graphlib
from belvedere.workflows.records import WorkflowRecord, to_record

PATH = "/workflows/{id}"
GRAPHLIB = "graphlib"


async def list_workflows(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.WORKFLOWS)
    listing = await run_search(request, store.fit_page, request.actor, listing)
    async with heavy_read(request, listing.size):
        views, total = await run_search(request, service.list_page, request.actor, listing)
        records = [to_record(view, request.actor) for view in views]
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> WorkflowRecord:
    return to_record(
        await request.services.db.read(service.show, request.actor, request.path["id"]),
        request.actor,
    )


async def graph(request: Request[None]) -> Graph | GraphlibGraph:
    format_ = request.first("format") or ""
    if format_ not in ("", GRAPHLIB):
        raise query.invalid_query("format", f"Must be {GRAPHLIB}, or left out.")
    workflow = await show(request)
    return to_graphlib(workflow.graph, workflow.tasks) if format_ else workflow.graph


async def create(request: Request[WorkflowRequest]) -> WorkflowRecord:
    view = await request.services.db.write(
        service.create, request.services.keyring, request.actor, bodies.read(request.body)
    )
    return to_record(view, request.actor)


async def replace(request: Request[WorkflowRequest]) -> WorkflowRecord:
    return await _change(request, replaces=True)


async def change(request: Request[WorkflowRequest]) -> WorkflowRecord:
    return await _change(request, replaces=False)


async def _change(request: AnyRequest, *, replaces: bool) -> WorkflowRecord:
    view = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        bodies.read(request.body),
        request.if_match,
        replaces=replaces,
    )
    return to_record(view, request.actor)


async def delete(request: Request[None]) -> WorkflowRecord:
    view = await request.services.db.write(service.delete, request.actor, request.path["id"])
    return to_record(view, request.actor)


def _write(method: str, path: str, handler: Handler, summary: str, *codes: str) -> Route:
    return Route(
        method,
        path,
        "admin",
        handler,
        summary,
        body=None if method == "DELETE" else WorkflowRequest,
        answer=WorkflowRecord,
        codes=codes,
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/workflows",
        "viewer",
        list_workflows,
        "List the workflows that you may see",
        answer=list[WorkflowRecord],
        query=pagination.QUERY,
    ),
    Route("GET", PATH, "viewer", show, "Show a workflow", answer=WorkflowRecord),
    Route(
        "GET",
        f"{PATH}/graph",
        "viewer",
        graph,
        "Show a workflow's graph",
        answer=Graph,
        selectable=True,
        query=(("format", f"{GRAPHLIB}: in graphlib's format, as TheEye has it"),),
    ),
    _write("POST", "/workflows", create, "Create a workflow"),
    _write("PUT", PATH, replace, "Replace a workflow's definition", "stale"),
    _write("PATCH", PATH, change, "Change parts of a workflow's definition", "stale"),
    _write("DELETE", PATH, delete, "Delete a workflow; its tasks stay", "workflow_in_use"),
    *credential_routes("workflow", f"{PATH}/credentials", service.reveal, service.rotate),
    *acl_routes("workflow", f"{PATH}/acl", store.find),
    *schedule_routes("workflow", f"{PATH}/schedule"),
)
