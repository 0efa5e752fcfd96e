"""What can be defined for a tag, as a table: how it is checked, made, changed and deleted."""

from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from belvedere.access import Actor, acl
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Conflict, Fault, Invalid, NotFound
from belvedere.base.text import request_masking
from belvedere.base.text.request_masking import FIELDS
from belvedere.db import Tx
from belvedere.definitions.model import Kind
from belvedere.files import FileChange
from belvedere.files import service as files
from belvedere.files import store as file_store
from belvedere.files.uploads import content_of
from belvedere.hosts import managed_objects
from belvedere.hosts.managed_objects import Instance
from belvedere.monitors import bindings as monitor_bindings
from belvedere.monitors import service as monitors
from belvedere.monitors.config import bodies as monitor_given
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.secrecy import refuse_masks, shown_config, unmasked
from belvedere.tasks import bodies as task_given
from belvedere.tasks import service as tasks
from belvedere.tasks import store as task_store
from belvedere.tasks.bodies import ScriptBody, TaskBody
from belvedere.tasks.definition import validation as task_definition
from belvedere.tasks.definition.validation import refusal
from belvedere.tasks.model import TaskSpec, Type, shown
from belvedere.triggers import service

Body = dict[str, Any]
# Which host it is on is not its own to say.
OF_HOST = ("host_id", "host", "hostname")


class Maker(Protocol):
    """One kind of record that a definition can make."""

    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        """What is kept of the body; refused unless it could be made on any host."""
        ...

    def create(self, tx: Tx, keys: Keys, actor: Actor, body: Body, host_id: str) -> str: ...

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None: ...

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None: ...

    def shown(self, body: Body) -> Body: ...


def converted(body: Body, shape: Any) -> Any:
    try:
        return msgspec.convert(body, shape, strict=False)
    except msgspec.ValidationError as fault:
        reason, _, where = str(fault).partition(" - at `$")
        field = f"definition{where.rstrip('`')}"
        raise Invalid(f"{field}: {reason}.", faults=(Fault(field, f"{reason}."),)) from None


def _refuse_host(body: Body) -> None:
    named = [name for name in OF_HOST if body.get(name)]
    if named:
        faults = [Fault(f"definition.{name}", "The tag says on which hosts.") for name in named]
        raise Invalid("A definition for a tag names no host.", faults=tuple(faults))


class Tasks:
    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        _refuse_host(body)
        given = converted(body, TaskBody)
        fields = task_given.definition_in(given)
        faults = [Fault(n, "This is required.") for n in ("name", "type") if not fields.get(n)]
        if faults:
            raise refusal(faults)
        if not fields["type"].needs_host:
            raise refusal([Fault("type", "This kind of task runs on no host.")])
        if "task_arguments" in fields and old is not None:
            was = converted(old, TaskBody).task_arguments or []
            fields["task_arguments"] = task_given.unmasked(fields["task_arguments"], was)
            body = {**body, "task_arguments": msgspec.to_builtins(fields["task_arguments"])}
        if old is not None:
            given_body, body = body, request_masking.restored(body, old)
            request_masking.check_address(body, old, given_body)
            fields = {**fields, **{name: body[name] for name in FIELDS if body.get(name)}}
        if fields["type"] is Type.SCRAPER:
            request_masking.refuse_masks(fields)
        spec = task_definition.checked(TaskSpec(**{**fields, "host_id": None, "script_id": None}))
        acl.resolve(tx, actor.customer_id, given.acl or ())
        service.resolve(tx, actor, ("task", ""), given.triggers or (), ())
        kept = _with_stored_script(tx, actor, body, given, old)
        if spec.type is Type.SCRIPT and not kept.get("script_id"):
            raise refusal([Fault("script_id", "Name a stored script, or send script.source.")])
        return kept

    def create(self, tx: Tx, keys: Keys, actor: Actor, body: Body, host_id: str) -> str:
        given = converted({**body, "host_id": host_id}, TaskBody)
        return tasks.create(tx, keys, actor, given, refuses_masks=False)[0].id

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None:
        given = converted(body, TaskBody)
        timeout = None if given.timeout is UNSET else given.timeout
        # The one field that the interface does not let PUT change.
        tasks.set_timeout(tx, actor, object_id, timeout, follows=True)
        given.timeout = timeout
        host_id = task_store.find(tx, actor.customer_id, object_id).host_id
        given = msgspec.structs.replace(given, host_id=host_id)
        tasks.change(tx, actor, object_id, given, whole=True, follows=True)

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None:
        tasks.delete(tx, actor, object_id, follows=True)

    def shown(self, body: Body) -> Body:
        arguments = converted(body, TaskBody).task_arguments
        if arguments:
            body = {**body, "task_arguments": msgspec.to_builtins(shown(arguments))}
        return request_masking.shown(body) if body["type"] == Type.SCRAPER else body


def _with_stored_script(tx: Tx, actor: Actor, body: Body, given: Any, old: Body | None) -> Body:
    """One file for all hosts: a script that comes with the definition is stored once."""
    kept = {name: value for name, value in body.items() if name not in ("script", *OF_HOST)}
    inline = given.script if isinstance(given.script, ScriptBody) else None
    named = given.script_id or (inline.id or inline.also_id if inline else given.script)
    if inline is not None and inline.is_inline:
        content = content_of(inline.source, inline.data)
        change = FileChange(filename=inline.filename, content=content, kind="Script")
        own = (old or {}).get("script_id")
        kept["script_id"] = _stored(tx, actor, change, named or _alone(tx, actor, own))
    elif named:
        _check_file(tx, actor, named)
        kept["script_id"] = named
    return kept


def _alone(tx: Tx, actor: Actor, file_id: str | None) -> str | None:
    """The definition's own script; one that others use too is left alone."""
    if file_id is None:
        return None
    users = [link.id for link in file_store.links(tx, actor.customer_id, file_id)]
    return file_id if len(managed_objects.definitions_of(tx, "task", users)) <= 1 else None


def _stored(tx: Tx, actor: Actor, change: FileChange, file_id: str | None) -> str:
    if file_id is not None:
        return files.change(tx, actor, file_id, change).id
    if change.filename is UNSET:
        change.filename = "script.sh"
    return files.create(tx, actor, change).id


def _check_file(tx: Tx, actor: Actor, file_id: str) -> None:
    try:
        file_store.find(tx, actor.customer_id, file_id)
    except NotFound:
        raise refusal([Fault("script_id", "There is no such file.")]) from None


class Monitors:
    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        _refuse_host(body)
        if old is not None:
            given_body, body = body, unmasked(body, old)
            inner = [part.get("config") or {} for part in (body, old, given_body)]
            request_masking.check_address(
                {**inner[0], **body}, {**inner[1], **old}, inner[2], given_body
            )
        given = converted(body, MonitorBody)
        type_ = monitor_given.type_of(given)
        if not type_.is_run_by_agent:
            raise refusal([Fault("type", "A host does not check this kind of monitor.")])
        if "name" not in monitor_given.columns_in(given):
            raise refusal([Fault("name", "This is required.")])
        config = monitor_given.config_in(type_, given, {})
        refuse_masks(config)
        monitor_bindings.check(tx, actor.customer_id, type_, config)
        acl.resolve(tx, actor.customer_id, given.acl or ())
        return {name: value for name, value in body.items() if name not in OF_HOST}

    def create(self, tx: Tx, keys: Keys, actor: Actor, body: Body, host_id: str) -> str:
        given = converted(body, MonitorBody)
        return monitors.create(tx, keys, actor, given, host_id, refuses_masks=False)[0].id

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None:
        given = converted(body, MonitorBody)
        monitors.change(tx, actor, object_id, given, None, whole=True, follows=True)

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None:
        monitors.delete(tx, actor, object_id, follows=True)

    def shown(self, body: Body) -> Body:
        return shown_config(body)


MAKERS: dict[str, Maker] = {Kind.TASK: Tasks(), Kind.MONITOR: Monitors()}


def taken_back(tx: Tx, actor: Actor, one: Instance) -> bool:
    """Delete what a host has no longer; false when something else holds it."""
    try:
        MAKERS[one.kind].delete(tx, actor, one.object_id)
    except NotFound:
        # It went with its host.
        return True
    except Conflict:
        return False
    return True
