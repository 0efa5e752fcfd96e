"""Making what a recipe holds: every task and the workflow, or nothing."""

from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody, given_patterns
from belvedere.tasks.store import TaskView
from belvedere.workflow_specs.model import Graph
from belvedere.workflows import service
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.recipes import format
from belvedere.workflows.recipes.format import Fields, Recipe, bad
from belvedere.workflows.records import Shown

MAX_TASKS = 200
ON_HOSTS = ("script", "scraper")


class Made(msgspec.Struct):
    """What an import made."""

    tasks: list[tasks.Shown]
    workflow: Shown | None
    notes: list[str]


def read(said: Any) -> Recipe:
    """The recipe in a file. Pure, for a thread: a file may be large."""
    recipe = format.read(said)
    count = sum(len(one.tasks) for one in (recipe, *recipe.inner.values()))
    if not 1 <= count <= MAX_TASKS:
        raise bad(f"The recipe has {count} tasks; 1 to {MAX_TASKS} can be imported.")
    return recipe


def patterns_of(recipe: Recipe) -> Iterator[str]:
    for one in (recipe, *recipe.inner.values()):
        for task in one.tasks.values():
            yield from given_patterns(task)


def make(tx: Tx, keys: Keys, actor: Actor, recipe: Recipe, hostname: str | None) -> Made:
    """Tasks of hosts go to the host of this name."""
    require(actor, Level.ADMIN)
    made = Made([], None, [])
    flows: dict[str, str] = {}
    for known, one in recipe.inner.items():
        flows[known] = _make(tx, keys, actor, one, hostname, flows, made)
    _make(tx, keys, actor, recipe, hostname, flows, made)
    return made


def _make(
    tx: Tx,
    keys: Keys,
    actor: Actor,
    recipe: Recipe,
    hostname: str | None,
    flows: dict[str, str],
    made: Made,
) -> str:
    """One workflow with its tasks, or a task; `flows` are those made before. The last is shown."""
    ids = {}
    for known, fields in recipe.tasks.items():
        shown = _task(tx, keys, actor, fields, hostname)
        made.tasks.append(shown)
        ids[known] = shown[0].id
    made.notes += recipe.notes
    if recipe.workflow is None:
        return ""
    graph = format.graph_of(recipe, ids, flows)
    made.workflow = _workflow(tx, keys, actor, recipe, graph)
    return made.workflow.row.id


def _task(
    tx: Tx, keys: Keys, actor: Actor, fields: Fields, hostname: str | None
) -> tuple[TaskView, list[str]]:
    fields = dict(fields)
    if fields["type"] in ON_HOSTS:
        if not hostname:
            raise bad("The recipe has tasks that run on a host; name it as hostname.")
        fields["hostname"] = hostname
    if fields["type"] == "approval":
        fields["approvers"] = [actor.email or actor.username]
    try:
        body = msgspec.convert(fields, TaskBody, strict=False)
        return tasks.create(tx, keys, actor, body, refuses_masks=False)
    except (msgspec.ValidationError, Invalid) as refused:
        raise _named(f"The task {fields['name']!r}", refused) from None


def _workflow(tx: Tx, keys: Keys, actor: Actor, recipe: Recipe, graph: Graph) -> Shown:
    assert recipe.workflow is not None
    try:
        body = msgspec.convert(recipe.workflow, WorkflowBody, strict=False)
        body.graph = graph
        body.start = body.start or None
        return service.create(tx, keys, actor, body)
    except (msgspec.ValidationError, Invalid) as refused:
        raise _named("The workflow", refused) from None


def _named(what: str, refused: msgspec.ValidationError | Invalid) -> Invalid:
    """The same refusal, saying which part of the recipe it is about."""
    faults = refused.faults if isinstance(refused, Invalid) else ()
    message = f"{what} cannot be imported: {str(refused).rstrip('.')}."
    return Invalid(message, code="invalid_recipe", faults=faults)
