"""Imports a recipe: all of its tasks and workflows, or nothing."""

from collections.abc import Iterator

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.rest.bodies.conversion import convert
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody, raw_patterns
from belvedere.workflow_specs.model import Graph
from belvedere.workflows import service
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.recipes import format
from belvedere.workflows.recipes.format import Recipe
from belvedere.workflows.recipes.source import Fields, ImportReport, invalid_recipe
from belvedere.workflows.records import WorkflowView

MAX_TASKS = 200
ON_HOSTS = ("script", "scraper")
_YOU_APPROVE = "you are the approver; set others with: belvedere task edit"
_NO_APPROVERS = "it has no approvers and cannot run; set them with: belvedere task edit"
_EXIT_CODES = (
    "The exit codes of the scripts are ignored, as in TheEye; `ignore_exit_code` of a task changes"
    " this."
)


class ImportResult(msgspec.Struct):
    """What an import created."""

    tasks: list[tasks.TaskWithAcl]
    workflow: WorkflowView | None
    report: ImportReport


def read(source: object) -> Recipe:
    """The recipe in a file. Pure, so that a thread can do it: a file may be large."""
    recipe = format.read(source)
    count = sum(len(part.tasks) for part in (recipe, *recipe.inner.values()))
    if not 1 <= count <= MAX_TASKS:
        raise invalid_recipe(f"The recipe has {count} tasks; 1 to {MAX_TASKS} can be imported.")
    return recipe


def patterns_of(recipe: Recipe) -> Iterator[str]:
    for part in (recipe, *recipe.inner.values()):
        for task in part.tasks.values():
            yield from raw_patterns(task)


def import_recipe(
    tx: Tx, keys: Keyring, actor: Actor, recipe: Recipe, hostname: str | None
) -> ImportResult:
    """Tasks that run on a host get the host with this name."""
    require(actor, Level.ADMIN)
    result = ImportResult([], None, ImportReport())
    workflow_ids: dict[str, str] = {}
    for recipe_id, part in recipe.inner.items():
        workflow_ids[recipe_id] = _import_part(
            tx, keys, actor, part, hostname, workflow_ids, result
        )
    _import_part(tx, keys, actor, recipe, hostname, workflow_ids, result)
    _add_notes(recipe, result.report)
    return result


def _add_notes(recipe: Recipe, report: ImportReport) -> None:
    tasks = [task for part in (recipe, *recipe.inner.values()) for task in part.tasks.values()]
    if not recipe.is_ours and any(task.get("ignore_exit_code") for task in tasks):
        report.notes.append(_EXIT_CODES)
    if report.unlisted:
        report.notes.append(f"{report.unlisted} more fields are not imported.")


def _import_part(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    recipe: Recipe,
    hostname: str | None,
    workflow_ids: dict[str, str],
    result: ImportResult,
) -> str:
    """A workflow with its tasks, or a task; `flows` are the workflows created before it. The
    result shows the last workflow."""
    ids = {}
    for recipe_id, fields in recipe.tasks.items():
        task = _task(tx, keys, actor, fields, hostname, result.report)
        result.tasks.append(task)
        ids[recipe_id] = task[0].id
    result.report.add(recipe.report)
    if recipe.workflow is None:
        return ""
    graph = format.graph_of(recipe, ids, workflow_ids)
    result.workflow = _workflow(tx, keys, actor, recipe, graph)
    return result.workflow.row.id


def _task(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    fields: Fields,
    hostname: str | None,
    report: ImportReport,
) -> tasks.TaskWithAcl:
    fields = dict(fields)
    if fields["type"] in ON_HOSTS:
        if not hostname:
            raise invalid_recipe(
                "The recipe has tasks that run on a host; name the host with hostname."
            )
        fields["hostname"] = hostname
    if fields["type"] == "approval":
        fields |= _approvers(actor, fields, report)
    try:
        body = convert(fields, TaskBody)
        return tasks.create(
            tx, keys, actor, body, refuses_masks=False, may_lack_approvers=actor.kind != "member"
        )
    except (msgspec.ValidationError, Invalid) as error:
        raise _with_part(f"The task {fields['name']!r}", error) from None


def _approvers(actor: Actor, fields: Fields, report: ImportReport) -> Fields:
    """The person who imports. A token is not a person: somebody else has to be named."""
    if fields["approvals_target"] != "fixed":
        return {}
    if actor.kind == "member":
        report.notes.append(f"{fields['name']}: {_YOU_APPROVE}")
        return {"approvers": [actor.email or actor.username]}
    report.notes.append(f"{fields['name']}: {_NO_APPROVERS}")
    return {}


def _workflow(tx: Tx, keys: Keyring, actor: Actor, recipe: Recipe, graph: Graph) -> WorkflowView:
    assert recipe.workflow is not None
    try:
        body = convert(recipe.workflow, WorkflowBody)
        body.graph = graph
        body.start = body.start or None
        return service.create(tx, keys, actor, body)
    except (msgspec.ValidationError, Invalid) as error:
        raise _with_part("The workflow", error) from None


def _with_part(part: str, error: msgspec.ValidationError | Invalid) -> Invalid:
    """The same error with the part of the recipe that it is about."""
    faults = error.faults if isinstance(error, Invalid) else ()
    message = f"{part} cannot be imported: {str(error).rstrip('.')}."
    return Invalid(message, code="invalid_recipe", faults=faults)
