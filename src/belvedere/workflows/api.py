"""Workflows over HTTP: making them, and their secret keys. Their jobs are in api_job.py."""

from belvedere.access.api.acl import acl_routes
from belvedere.access.api.api_secret import credential_routes
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Handler, Reply, Route
from belvedere.schedules.api.schedules import schedule_routes
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Graph
from belvedere.workflows import service
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.records import WorkflowRecord, record

PATH = "/workflows/{id}"


async def list_workflows(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.WORKFLOWS)
    listing = await ask.house.db.read(store.fitted, ask.actor, listing)
    async with heavy_read(ask, listing.size):
        found, total = await ask.house.db.read(service.listed, ask.actor, listing)
        records = [record(one, ask.actor) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show(ask: Ask) -> WorkflowRecord:
    return record(await ask.house.db.read(service.show, ask.actor, ask.path["id"]), ask.actor)


async def graph(ask: Ask) -> Graph:
    return (await show(ask)).graph


async def create(ask: Ask) -> WorkflowRecord:
    made = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body)
    return record(made, ask.actor)


async def replace(ask: Ask) -> WorkflowRecord:
    return await _change(ask, whole=True)


async def change(ask: Ask) -> WorkflowRecord:
    return await _change(ask, whole=False)


async def _change(ask: Ask, *, whole: bool) -> WorkflowRecord:
    changed = await ask.house.db.write(
        service.change, ask.actor, ask.path["id"], ask.body, ask.if_match, whole=whole
    )
    return record(changed, ask.actor)


async def delete(ask: Ask) -> WorkflowRecord:
    gone = await ask.house.db.write(service.delete, ask.actor, ask.path["id"])
    return record(gone, ask.actor)


def _write(method: str, path: str, handler: Handler, summary: str, *codes: str) -> Route:
    return Route(
        method,
        path,
        "admin",
        handler,
        summary,
        body=None if method == "DELETE" else WorkflowBody,
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
    Route("GET", f"{PATH}/graph", "viewer", graph, "Show a workflow's graph", answer=Graph),
    _write("POST", "/workflows", create, "Make a workflow"),
    _write("PUT", PATH, replace, "Replace a workflow's definition", "stale"),
    _write("PATCH", PATH, change, "Change parts of a workflow's definition", "stale"),
    _write("DELETE", PATH, delete, "Delete a workflow; its tasks stay", "workflow_in_use"),
    *credential_routes("workflow", f"{PATH}/credentials", service.reveal, service.rotate),
    *acl_routes("workflow", f"{PATH}/acl", store.find),
    *schedule_routes("workflow", f"{PATH}/schedule"),
)
