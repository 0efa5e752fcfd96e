"""Recipes over HTTP: import and export of tasks and workflows."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.rest.patterns import matcher
from belvedere.rest.request import off_loop
from belvedere.rest.route import Handler, Route
from belvedere.tasks.records import TaskRecord
from belvedere.tasks.records import to_record as task_record
from belvedere.workflows.recipes import export, importer
from belvedere.workflows.recipes.format import Recipe
from belvedere.workflows.recipes.importer import ImportResult
from belvedere.workflows.recipes.source import Fields, SkippedField
from belvedere.workflows.records import WorkflowRecord, to_record

MAX_RECIPE_BYTES = 32 << 20


Exporter = Callable[[Tx, Actor, str, str], Fields]


class RecipeBody(msgspec.Struct):
    """A recipe as TheEye writes it; other fields are allowed, and listed in the response if they
    are not imported."""

    # For a task.
    task: dict[str, Any] | None = None
    file: dict[str, Any] | None = None
    # For a workflow.
    name: str | None = None
    graph: dict[str, Any] | None = None
    tasks: list[dict[str, Any]] | None = None
    # Workflows that it runs as nodes, each after those that it runs itself.
    workflows: list[dict[str, Any]] | None = None
    start_task_id: str | None = None
    hostname: str | None = None


class Imported(msgspec.Struct):
    """What an import created, notes on what to check, and what was not imported."""

    workflow: WorkflowRecord | None
    tasks: list[TaskRecord]
    notes: list[str]
    not_imported: list[SkippedField]


class ImportedTask(TaskRecord, kw_only=True):
    """The task, with notes on what to check, and what was not imported."""

    notes: list[str]
    not_imported: list[SkippedField]


async def import_task(request: Request[None]) -> ImportedTask:
    result = await _import(request)
    if result.workflow is not None:
        raise Invalid("This is the recipe of a workflow; import it with POST /workflows/import.")
    view, acl = result.tasks[0]
    record = task_record(view, request.actor, acl)
    report = result.report
    return ImportedTask(
        **msgspec.structs.asdict(record), notes=report.notes, not_imported=report.skipped
    )


async def import_recipe(request: Request[None]) -> Imported:
    result = await _import(request)
    return Imported(
        None if result.workflow is None else to_record(result.workflow, request.actor),
        [task_record(view, request.actor, acl) for view, acl in result.tasks],
        result.report.notes,
        result.report.skipped,
    )


async def _import(request: AnyRequest) -> ImportResult:
    recipe, named = await off_loop(len(request.raw), _read, request.raw)
    await matcher.prepare(importer.patterns_of(recipe))
    hostname = request.first("hostname") or named
    result: ImportResult = await request.services.db.write(
        importer.import_recipe, request.services.keyring, request.actor, recipe, hostname
    )
    return result


def _read(raw: bytes) -> tuple[Recipe, str | None]:
    source: object = json_text.parse(raw or b"{}", exact=False)
    named = source.get("hostname") if isinstance(source, dict) else None
    return importer.read(source), named if isinstance(named, str) else None


async def serialize_task(request: Request[None]) -> dict[str, Any]:
    return await _exported(request, export.export_task)


async def serialize_workflow(request: Request[None]) -> dict[str, Any]:
    return await _exported(request, export.export_workflow)


async def _exported(request: AnyRequest, export_recipe: Exporter) -> dict[str, Any]:
    mode = request.first("mode") or "deep"
    async with heavy_read(request):
        recipe: dict[str, Any] = await request.services.db.read(
            export_recipe, request.actor, request.path["id"], mode
        )
    return recipe


def _export(path: str, handler: Handler, summary: str) -> Route:
    query = (("mode", "deep (default), or shallow: without the content of scripts"),)
    return Route("GET", path, "admin", handler, summary, answer=dict[str, Any], query=query)


def _route(path: str, handler: Handler, summary: str, answer: object) -> Route:
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
        max_body=MAX_RECIPE_BYTES,
        query=(("hostname", "the host that runs its tasks"),),
    )


ROUTES: tuple[Route, ...] = (
    _route("/task/import", import_task, "Import a task from a recipe", ImportedTask),
    _route(
        "/workflows/import",
        import_recipe,
        "Import a recipe: a workflow with its tasks, or a task",
        Imported,
    ),
    _export("/task/{id}/serialize", serialize_task, "Export a task as a recipe"),
    _export(
        "/workflows/{id}/serialize",
        serialize_workflow,
        "Export a workflow with its tasks as a recipe",
    ),
)
