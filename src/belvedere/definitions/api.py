"""Definitions over HTTP."""

from belvedere.definitions import service, store
from belvedere.definitions.model import DefinitionRecord, Shown, record
from belvedere.definitions.service import DefinitionBody
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.patterns import matcher
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
from belvedere.tasks.bodies import given_patterns


def _record(ask: Ask, shown: Shown) -> DefinitionRecord:
    return record(shown, ask.actor.customer_name)


async def list_definitions(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.DEFINITIONS)
    listing = await ask.house.db.read(store.fitted, ask.actor.customer_id, listing)
    async with heavy_read(ask, listing.size):
        found, total = await ask.house.db.read(service.listed, ask.actor, listing)
        records = [_record(ask, one) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show(ask: Ask) -> DefinitionRecord:
    return _record(ask, await ask.house.db.read(service.show, ask.actor, ask.path["id"]))


async def create(ask: Ask) -> Reply:
    await matcher.prepare(given_patterns(ask.body.definition))
    made = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body)
    return Reply(_record(ask, made), status=201)


async def change(ask: Ask) -> DefinitionRecord:
    await matcher.prepare(given_patterns(ask.body.definition))
    changed = await ask.house.db.write(
        service.change, ask.house.keys, ask.actor, ask.path["id"], ask.body, ask.if_match
    )
    return _record(ask, changed)


async def delete(ask: Ask) -> DefinitionRecord:
    return _record(ask, await ask.house.db.write(service.delete, ask.actor, ask.path["id"]))


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/definition",
        "admin",
        list_definitions,
        "List definitions",
        answer=list[DefinitionRecord],
        query=pagination.QUERY,
        known=False,
    ),
    Route(
        "GET",
        "/definition/{id}",
        "admin",
        show,
        "Show a definition, and what it has made",
        answer=DefinitionRecord,
        known=False,
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
        known=False,
        max_body=33 << 20,
    ),
    Route(
        "PUT",
        "/definition/{id}",
        "admin",
        change,
        "Change a definition, and with it all that it has made",
        body=DefinitionBody,
        answer=DefinitionRecord,
        codes=("stale", "task_in_use", "storage_quota"),
        known=False,
        max_body=33 << 20,
    ),
    Route(
        "DELETE",
        "/definition/{id}",
        "admin",
        delete,
        "Delete a definition and all that it has made",
        answer=DefinitionRecord,
        codes=("task_in_use",),
        known=False,
    ),
)
