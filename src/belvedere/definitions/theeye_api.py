"""Templates of TheEye over HTTP: what runs on one host, and host groups."""

from typing import Any

from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.base.errors import Invalid
from belvedere.definitions import host_groups, host_template
from belvedere.definitions.host_groups import HostGroupBody, HostGroupRecord
from belvedere.definitions.host_template import HostTemplate
from belvedere.rest.patterns import matcher
from belvedere.rest.route import Route
from belvedere.tasks.bodies import raw_patterns


async def show_template(request: Request[None]) -> HostTemplate:
    template: HostTemplate = await run_search(
        request, host_template.show, request.actor, request.path["id"]
    )
    return template


async def list_groups(request: Request[None]) -> list[HostGroupRecord]:
    groups: list[HostGroupRecord] = await run_search(
        request, host_groups.list_groups, request.actor
    )
    return groups


async def show_group(request: Request[None]) -> HostGroupRecord:
    group: HostGroupRecord = await request.services.db.read(
        host_groups.show, request.actor, request.path["id"]
    )
    return group


async def create_group(request: Request[HostGroupBody]) -> HostGroupRecord:
    await _prepare(request.body.tasks)
    group: HostGroupRecord = await request.services.db.write(
        host_groups.create, request.services.keyring, request.actor, request.body
    )
    return group


async def replace_group(request: Request[HostGroupBody]) -> HostGroupRecord:
    await _prepare(request.body.tasks)
    group: HostGroupRecord = await request.services.db.write(
        host_groups.replace,
        request.services.keyring,
        request.actor,
        request.path["id"],
        request.body,
    )
    return group


async def delete_group(request: Request[None]) -> HostGroupRecord:
    word = request.first("deleteInstances")
    if word not in ("true", "false"):
        message = "deleteInstances=true deletes what the group created, deleteInstances=false not."
        raise Invalid(message, code="invalid_query")
    group: HostGroupRecord = await request.services.db.write(
        host_groups.delete, request.actor, request.path["id"], keeps_objects=word == "false"
    )
    return group


async def _prepare(tasks: list[dict[str, Any]]) -> None:
    for task in tasks[: host_groups.MAX_OBJECTS]:
        await matcher.prepare(raw_patterns(task))


_GROUP = "/hostgroup/{id}"
_MAX_BODY = 33 << 20

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/host/{id}/template",
        "viewer",
        show_template,
        "Show the monitors and tasks of a host, with their triggers and scripts",
        answer=HostTemplate,
    ),
    Route(
        "GET",
        "/hostgroup",
        "admin",
        list_groups,
        "List host groups: the definitions of each host tag",
        answer=list[HostGroupRecord],
    ),
    Route("GET", _GROUP, "admin", show_group, "Show a host group", answer=HostGroupRecord),
    Route(
        "GET",
        f"{_GROUP}/serialize",
        "admin",
        show_group,
        "Show a host group, as for an export",
        answer=HostGroupRecord,
    ),
    Route(
        "POST",
        "/hostgroup",
        "admin",
        create_group,
        "Create definitions for a host tag",
        body=HostGroupBody,
        answer=HostGroupRecord,
        codes=("not_supported", "name_taken", "storage_quota"),
        max_body=_MAX_BODY,
    ),
    Route(
        "PUT",
        _GROUP,
        "admin",
        replace_group,
        "Replace the definitions of a host tag",
        body=HostGroupBody,
        answer=HostGroupRecord,
        codes=("not_supported", "task_in_use", "storage_quota"),
        max_body=_MAX_BODY,
    ),
    Route(
        "DELETE",
        _GROUP,
        "admin",
        delete_group,
        "Delete the definitions of a host tag",
        answer=HostGroupRecord,
        codes=("task_in_use",),
        query=(("deleteInstances", "true: delete what they created, too; false: keep it"),),
    ),
)
