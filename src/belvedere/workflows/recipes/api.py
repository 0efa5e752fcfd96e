"""Recipes over HTTP: what was exported is made here, and what is here is exported."""

from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.rest import off_loop
from belvedere.rest.patterns import matcher
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Handler, Route
from belvedere.tasks.records import TaskRecord
from belvedere.tasks.records import record as task_record
from belvedere.workflows.recipes import export, importer
from belvedere.workflows.recipes.format import Recipe
from belvedere.workflows.recipes.importer import Made
from belvedere.workflows.records import WorkflowRecord, record

FILES = 32 << 20


class RecipeBody(msgspec.Struct):
    """A recipe as the original system writes it; fields that are not named here may stand in it."""

    # Of a task.
    task: dict[str, Any] | None = None
    file: dict[str, Any] | None = None
    # Of a workflow.
    name: str | None = None
    graph: dict[str, Any] | None = None
    tasks: list[dict[str, Any]] | None = None
    # Those that it runs as its nodes, each after those that it runs itself.
    workflows: list[dict[str, Any]] | None = None
    start_task_id: str | None = None
    hostname: str | None = None


Imported: Any = msgspec.defstruct(
    "Imported",
    [("workflow", WorkflowRecord | None), ("tasks", list[TaskRecord]), ("notes", list[str])],
    module=__name__,
    namespace={"__doc__": "What was made of a recipe, and what a person should look at."},
)


async def import_task(request: Ask) -> msgspec.Struct:
    made = await _made(request)
    if made.workflow is not None:
        raise Invalid("This is the recipe of a workflow; POST /workflows/import takes it.")
    view, acl = made.tasks[0]
    return task_record(view, request.actor, acl)


async def import_recipe(request: Ask) -> msgspec.Struct:
    made = await _made(request)
    found: msgspec.Struct = Imported(
        None if made.workflow is None else record(made.workflow, request.actor),
        [task_record(view, request.actor, acl) for view, acl in made.tasks],
        made.notes,
    )
    return found


async def _made(request: Ask) -> Made:
    recipe, named = await off_loop.read(len(request.raw), _read, request.raw)
    await matcher.prepare(importer.patterns_of(recipe))
    hostname = request.first("hostname") or named
    made: Made = await request.house.db.write(
        importer.make, request.house.keys, request.actor, recipe, hostname
    )
    return made


def _read(raw: bytes) -> tuple[Recipe, str | None]:
    said: Any = json_text.parse(raw or b"{}", exact=False)
    named = said.get("hostname") if isinstance(said, dict) else None
    return importer.read(said), named if isinstance(named, str) else None


async def serialize_task(request: Ask) -> dict[str, Any]:
    return await _exported(request, export.of_task)


async def serialize_workflow(request: Ask) -> dict[str, Any]:
    return await _exported(request, export.of_workflow)


async def _exported(request: Ask, of: Any) -> dict[str, Any]:
    mode = request.first("mode") or "deep"
    async with heavy_read(request):
        recipe: dict[str, Any] = await request.house.db.read(
            of, request.actor, request.path["id"], mode
        )
    return recipe


def _export(path: str, handler: Handler, summary: str) -> Route:
    query = (("mode", "deep (default), or shallow: without the contents of scripts"),)
    return Route("GET", path, "admin", handler, summary, answer=dict[str, Any], query=query)


def _route(path: str, handler: Handler, summary: str, answer: Any) -> Route:
    return Route(
        "POST",
        path,
        "admin",
        handler,
        summary,
        body=RecipeBody,
        raw_body=True,
        answer=answer,
        codes=("storage_quota",),
        max_body=FILES,
        query=(("hostname", "the host on which its tasks run"),),
    )


ROUTES: tuple[Route, ...] = (
    _route("/task/import", import_task, "Make a task of an exported recipe", TaskRecord),
    _route("/workflows/import", import_recipe, "Make what an exported recipe holds", Imported),
    _export("/task/{id}/serialize", serialize_task, "Export a task as a recipe"),
    _export(
        "/workflows/{id}/serialize",
        serialize_workflow,
        "Export a workflow with its tasks as a recipe",
    ),
)
