"""TheEye's host groups, as far as definitions can express them: a group is the set of definitions
for one host tag, and the tag is its name."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Invalid, NotFound, NotSupported
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.definitions import service, store
from belvedere.definitions.managed_kinds import HOST_FIELDS
from belvedere.definitions.model import DefinitionKind, DefinitionView
from belvedere.definitions.service import DefinitionBody
from belvedere.hosts import service as host_service
from belvedere.hosts import store as hosts
from belvedere.hosts.service import HostChange
from belvedere.rest.text_fields import invalid_field

MAX_OBJECTS = 100
MAX_HOSTS = 1_000
MAX_GROUPS = 100
_OWN_FIELDS = (*HOST_FIELDS, "id", "_id", "_type")
# Parts of a template that a definition cannot have, and what to do instead.
_REASONS = {
    "hostname_regex": "Hosts belong to a group by their tags, not by a pattern of their names: tag"
    " the hosts, or name them in hosts.",
    "triggers": "A group has no triggers of its own: name the events in `triggers` of its tasks.",
    "files": "A group has no files of its own: store a file with POST /file and name it in"
    " script_id of a task.",
}


class HostGroupBody(msgspec.Struct):
    """A template of TheEye. Its name is the tag of its hosts."""

    name: str
    hosts: list[str] = []
    tasks: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    hostname_regex: str | None = None
    triggers: list[Any] = []
    files: list[Any] = []


class HostGroupRecord(msgspec.Struct):
    """`tasks` and `resources` are the definitions for the tag; `hosts` are the hosts with it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    type_: str = msgspec.field(name="_type")
    name: str
    hosts: list[str]
    tasks: list[dict[str, Any]]
    resources: list[dict[str, Any]]
    triggers: list[str] = []
    files: list[str] = []
    description: str = ""
    hostname_regex: str = ""


def list_groups(tx: Tx, actor: Actor) -> list[HostGroupRecord]:
    """The first 100 tags that have definitions, in alphabetical order."""
    require(actor, Level.ADMIN)
    tags = store.tags_in_use(tx, actor.customer_id)[:MAX_GROUPS]
    return [_record(tx, actor, tag) for tag in tags]


def show(tx: Tx, actor: Actor, group_id: str) -> HostGroupRecord:
    require(actor, Level.ADMIN)
    return _record(tx, actor, _tag_of(tx, actor, group_id))


def create(tx: Tx, keys: Keyring, actor: Actor, body: HostGroupBody) -> HostGroupRecord:
    require(actor, Level.ADMIN)
    _check(body)
    if body.name in store.tags_in_use(tx, actor.customer_id):
        raise Conflict(
            "A group with this name already exists; change it instead.", code="name_taken"
        )
    for kind, definition in _definitions_in(body):
        service.create(tx, keys, actor, DefinitionBody(kind, body.name, definition))
    _tag_hosts(tx, actor, body)
    return _record(tx, actor, body.name)


def replace(
    tx: Tx, keys: Keyring, actor: Actor, group_id: str, body: HostGroupBody
) -> HostGroupRecord:
    """Definitions of the same kind and name are changed, others are created or deleted."""
    require(actor, Level.ADMIN)
    tag = _tag_of(tx, actor, group_id)
    _check(body)
    if body.name != tag:
        raise NotSupported(
            "A group cannot be renamed, because its name is the tag of its hosts: create another"
            " group and delete this one."
        )
    current = {(view.row.kind, view.row.name): view for view in _views(tx, actor, tag)}
    for kind, definition in _definitions_in(body):
        view = current.pop((kind, str(definition.get("name"))), None)
        request = DefinitionBody(kind, tag, definition)
        if view is None:
            service.create(tx, keys, actor, request)
        else:
            service.change(tx, keys, actor, view.row.id, request, None)
    for view in current.values():
        service.delete(tx, actor, view.row.id)
    _tag_hosts(tx, actor, body)
    return _record(tx, actor, tag)


def delete(tx: Tx, actor: Actor, group_id: str, *, keeps_objects: bool) -> HostGroupRecord:
    """The definitions of the tag; the hosts keep the tag."""
    require(actor, Level.ADMIN)
    record = _record(tx, actor, _tag_of(tx, actor, group_id))
    for view in _views(tx, actor, record.name):
        service.delete(tx, actor, view.row.id, keeps_objects=keeps_objects)
    return record


def _check(body: HostGroupBody) -> None:
    for name, reason in _REASONS.items():
        if getattr(body, name):
            raise NotSupported(f"{name} is not supported. {reason}")
    if not body.tasks and not body.resources:
        raise NotSupported(
            "A group without tasks and resources is not supported, because a group consists of its"
            " definitions. Tag the hosts instead."
        )
    if len(body.tasks) + len(body.resources) > MAX_OBJECTS or len(body.hosts) > MAX_HOSTS:
        message = f"A group has at most {MAX_OBJECTS} tasks and resources and {MAX_HOSTS} hosts."
        raise Invalid(message, code="group_too_large")
    if not all(map(is_id, body.hosts)):
        raise invalid_field("hosts", "Name hosts by their ids.")


def _definitions_in(body: HostGroupBody) -> list[tuple[str, dict[str, Any]]]:
    tasks = [(str(DefinitionKind.TASK), _without_host(task)) for task in body.tasks]
    monitors = [(str(DefinitionKind.MONITOR), _without_host(part)) for part in body.resources]
    return [*tasks, *monitors]


def _without_host(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Templates are often copies of objects of one host."""
    return {name: value for name, value in fields.items() if name not in _OWN_FIELDS}


def _tag_hosts(tx: Tx, actor: Actor, body: HostGroupBody) -> None:
    for host_id in dict.fromkeys(body.hosts):
        host = hosts.find(tx, actor.customer_id, host_id)
        if body.name not in host.labels:
            host_service.change(tx, actor, host_id, HostChange(tags=[*host.labels, body.name]))


def _tag_of(tx: Tx, actor: Actor, group_id: str) -> str:
    for tag in store.tags_in_use(tx, actor.customer_id):
        if _id(actor, tag) == group_id:
            return tag
    raise NotFound("There is no such host group.", code="hostgroup_not_found")


def _id(actor: Actor, tag: str) -> str:
    """Tags have no ids of their own."""
    return hashlib.sha256(f"hostgroup {actor.customer_id} {tag}".encode()).hexdigest()[:24]


def _views(tx: Tx, actor: Actor, tag: str) -> list[DefinitionView]:
    return [service.show(tx, actor, row.id) for row in store.for_tag(tx, actor.customer_id, tag)]


def _record(tx: Tx, actor: Actor, tag: str) -> HostGroupRecord:
    views = _views(tx, actor, tag)
    group_id = _id(actor, tag)
    return HostGroupRecord(
        group_id,
        group_id,
        "HostGroup",
        tag,
        [host.id for host in hosts.for_tag(tx, actor.customer_id, tag)],
        _bodies(views, DefinitionKind.TASK),
        _bodies(views, DefinitionKind.MONITOR),
    )


def _bodies(views: Sequence[DefinitionView], kind: str) -> list[dict[str, Any]]:
    return [{**view.body, "id": view.row.id} for view in views if view.row.kind == kind]
