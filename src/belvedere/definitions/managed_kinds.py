"""What can be defined for a tag: a table of how each kind is validated, created and changed."""

from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from belvedere.access import Actor, acl
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import history_limits
from belvedere.base.errors import Conflict, Fault, Invalid, NotFound
from belvedere.base.text import request_masking
from belvedere.base.text.request_masking import FIELDS
from belvedere.db import Tx
from belvedere.definitions.model import DefinitionKind
from belvedere.files import FileChange, usage
from belvedere.files import service as files
from belvedere.files import store as file_store
from belvedere.files.uploads import content_of
from belvedere.hosts import managed_objects
from belvedere.hosts.managed_objects import Instance
from belvedere.monitors import bindings as monitor_bindings
from belvedere.monitors import service as monitors
from belvedere.monitors.config import bodies as monitor_bodies
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.redaction import redact, reject_masks, restore_redacted
from belvedere.rest.bodies import conversion
from belvedere.tasks import bodies as task_bodies
from belvedere.tasks import service as tasks
from belvedere.tasks import store as task_store
from belvedere.tasks.bodies import TaskBody, script_in
from belvedere.tasks.definition import validation as task_definition
from belvedere.tasks.definition.validation import invalid_task
from belvedere.tasks.model import History, TaskSpec, Type, mask_arguments
from belvedere.triggers import service

Body = dict[str, Any]
T = TypeVar("T")
# The tag decides which hosts; a definition cannot name one.
HOST_FIELDS = ("host_id", "host", "hostname")


class ManagedKind(Protocol):
    """A kind of object that a definition can create."""

    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        """The body to store; raises unless the object could be created on any host."""
        ...

    def create(self, tx: Tx, keys: Keyring, actor: Actor, body: Body, host_id: str) -> str: ...

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None: ...

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None: ...

    def masked(self, body: Body) -> Body: ...


def convert(body: Body, shape: type[T]) -> T:
    try:
        return conversion.convert(body, shape)
    except msgspec.ValidationError as fault:
        reason, _, where = str(fault).partition(" - at `$")
        field = f"definition{where.rstrip('`')}"
        raise Invalid(f"{field}: {reason}.", faults=(Fault(field, f"{reason}."),)) from None


def _reject_host(body: Body) -> None:
    named = [name for name in HOST_FIELDS if body.get(name)]
    if named:
        faults = [
            Fault(f"definition.{name}", "The tag selects the hosts; omit this field.")
            for name in named
        ]
        raise Invalid("A definition for a tag cannot name a host.", faults=tuple(faults))


class ManagedTasks:
    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        _reject_host(body)
        task = convert(body, TaskBody)
        fields = task_bodies.definition_fields(task)
        task_bodies.fit_history(fields, History(), history_limits.find(tx, actor.customer_id))
        faults = [
            Fault(n, "This field is required.") for n in ("name", "type") if not fields.get(n)
        ]
        if faults:
            raise invalid_task(faults)
        if not fields["type"].needs_host:
            raise invalid_task([Fault("type", "This kind of task does not run on a host.")])
        if "task_arguments" in fields and old is not None:
            old_arguments = convert(old, TaskBody).task_arguments or []
            fields["task_arguments"] = task_bodies.restore_masked(
                fields["task_arguments"], old_arguments
            )
            body = {**body, "task_arguments": msgspec.to_builtins(fields["task_arguments"])}
        if old is not None:
            raw_body, body = body, request_masking.restore(body, old)
            request_masking.check_address(body, old, raw_body)
            fields = {**fields, **{name: body[name] for name in FIELDS if body.get(name)}}
        if fields["type"] is Type.SCRAPER:
            request_masking.refuse_masks(fields)
        spec = task_definition.validate(TaskSpec(**{**fields, "host_id": None, "script_id": None}))
        acl.resolve_entries(tx, actor.customer_id, task.acl or ())
        service.resolve(tx, actor, ("task", ""), task.triggers or (), ())
        stored = _with_stored_script(tx, actor, body, task, old)
        if spec.type is Type.SCRIPT and not stored.get("script_id"):
            raise invalid_task([Fault("script_id", "Name a stored script, or send script.source.")])
        return stored

    def create(self, tx: Tx, keys: Keyring, actor: Actor, body: Body, host_id: str) -> str:
        task = convert({**body, "host_id": host_id}, TaskBody)
        return tasks.create(tx, keys, actor, task, refuses_masks=False)[0].id

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None:
        task = convert(body, TaskBody)
        timeout = None if task.timeout is UNSET else task.timeout
        # The only field that PUT does not change.
        tasks.set_timeout(tx, actor, object_id, timeout, follows=True)
        task.timeout = timeout
        host_id = task_store.find(tx, actor.customer_id, object_id).host_id
        task = msgspec.structs.replace(task, host_id=host_id)
        tasks.change(tx, actor, object_id, task, is_replacement=True, follows=True)

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None:
        tasks.delete(tx, actor, object_id, follows=True)

    def masked(self, body: Body) -> Body:
        arguments = convert(body, TaskBody).task_arguments
        if arguments:
            body = {**body, "task_arguments": msgspec.to_builtins(mask_arguments(arguments))}
        return request_masking.mask(body) if body["type"] == Type.SCRAPER else body


def _with_stored_script(tx: Tx, actor: Actor, body: Body, task: TaskBody, old: Body | None) -> Body:
    """A script that comes with the definition is stored once for all hosts."""
    stored = {name: value for name, value in body.items() if name not in ("script", *HOST_FIELDS)}
    inline, inside = script_in(task)
    named = task.script_id or inside
    if inline is not None and inline.is_inline:
        content = content_of(inline.source, inline.data)
        change = FileChange(filename=inline.filename, content=content, kind="Script")
        own_id = (old or {}).get("script_id")
        stored["script_id"] = _store_script(
            tx, actor, change, named or _own_script(tx, actor, own_id)
        )
    elif named:
        _check_file(tx, actor, named)
        stored["script_id"] = named
    return stored


def _own_script(tx: Tx, actor: Actor, file_id: str | None) -> str | None:
    """The definition's own script, or None if others use it too."""
    if file_id is None:
        return None
    users = [use.id for use in usage.list_uses(tx, actor.customer_id, file_id)]
    return file_id if len(managed_objects.definitions_of(tx, "task", users)) <= 1 else None


def _store_script(tx: Tx, actor: Actor, change: FileChange, file_id: str | None) -> str:
    if file_id is not None:
        return files.change(tx, actor, file_id, change).id
    if change.filename is UNSET:
        change.filename = "script.sh"
    return files.create(tx, actor, change).id


def _check_file(tx: Tx, actor: Actor, file_id: str) -> None:
    try:
        file_store.find(tx, actor.customer_id, file_id)
    except NotFound:
        raise invalid_task([Fault("script_id", "No such file.")]) from None


class ManagedMonitors:
    def prepare(self, tx: Tx, actor: Actor, body: Body, old: Body | None) -> Body:
        _reject_host(body)
        if old is not None:
            raw_body, body = body, restore_redacted(body, old)
            inner = [part.get("config") or {} for part in (body, old, raw_body)]
            request_masking.check_address(
                {**inner[0], **body}, {**inner[1], **old}, inner[2], raw_body
            )
        monitor = convert(body, MonitorBody)
        type_ = monitor_bodies.type_of(monitor)
        if not type_.is_run_by_agent:
            raise invalid_task([Fault("type", "Monitors of this type are not checked by a host.")])
        if "name" not in monitor_bodies.columns_in(monitor):
            raise invalid_task([Fault("name", "This field is required.")])
        config = monitor_bodies.config_in(type_, monitor, {})
        reject_masks(config)
        monitor_bindings.check(tx, actor.customer_id, type_, config)
        acl.resolve_entries(tx, actor.customer_id, monitor.acl or ())
        return {name: value for name, value in body.items() if name not in HOST_FIELDS}

    def create(self, tx: Tx, keys: Keyring, actor: Actor, body: Body, host_id: str) -> str:
        monitor = convert(body, MonitorBody)
        return monitors.create(tx, keys, actor, monitor, host_id, rejects_masks=False)[0].id

    def change(self, tx: Tx, actor: Actor, object_id: str, body: Body) -> None:
        monitor = convert(body, MonitorBody)
        monitors.change(tx, actor, object_id, monitor, None, replaces=True, by_definition=True)

    def delete(self, tx: Tx, actor: Actor, object_id: str) -> None:
        monitors.delete(tx, actor, object_id, by_definition=True)

    def masked(self, body: Body) -> Body:
        return redact(body)


MANAGED_KINDS: dict[str, ManagedKind] = {
    DefinitionKind.TASK: ManagedTasks(),
    DefinitionKind.MONITOR: ManagedMonitors(),
}


def delete_object(tx: Tx, actor: Actor, instance: Instance) -> bool:
    """Delete the object of a host; False if something else uses it."""
    try:
        MANAGED_KINDS[instance.kind].delete(tx, actor, instance.object_id)
    except NotFound:
        # It was deleted with its host.
        return True
    except Conflict:
        return False
    return True
