"""Looks up what a task is bound to: host, script and approvers. Names become ids here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
from msgspec import UNSET

from belvedere.access import Actor, acl
from belvedere.access.people import memberships
from belvedere.base.errors import Fault, Invalid, NotFound
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.files import FileChange, usage
from belvedere.files import service as files
from belvedere.files import store as file_rows
from belvedere.files.uploads import content_of
from belvedere.hosts import store as host_rows
from belvedere.tasks.bodies import HostBody, ScriptBody, TaskBody, script_in
from belvedere.tasks.definition import validation
from belvedere.tasks.definition.validation import invalid_task
from belvedere.tasks.model import TaskSpec, Type


@dataclass(frozen=True, slots=True)
class Binding:
    """The context of a look-up: actor, task, and the definition with its current bindings."""

    tx: Tx
    actor: Actor
    task_id: str
    # The current definition, None for a new task.
    current: TaskSpec | None = None
    # Bindings that the body does not name keep their values.
    keeps_current: bool = False
    # An import without a person: the approvers are set later, and no job can be created before.
    may_lack_approvers: bool = False


def resolve(binding: Binding, body: TaskBody, spec: TaskSpec) -> TaskSpec:
    """The validated definition, with ids for everything that it names."""
    spec = msgspec.structs.replace(
        spec,
        host_id=_host(binding, body) if spec.type.needs_host else None,
        script_id=None,
        approvers=_approvers(binding, spec.approvers),
    )
    # Everything that can fail is checked before a script is stored.
    spec = validation.validate(spec, may_lack_approvers=binding.may_lack_approvers)
    script_id = _script(binding, body) if spec.type is Type.SCRIPT else None
    spec = msgspec.structs.replace(spec, script_id=script_id)
    faults = _missing_bindings(spec)
    if faults:
        raise invalid_task(faults)
    return spec


def _missing_bindings(spec: TaskSpec) -> list[Fault]:
    faults = []
    if spec.type.needs_host and spec.host_id is None:
        faults.append(Fault("host_id", "Specify the host with host_id or hostname."))
    if spec.type is Type.SCRIPT and spec.script_id is None:
        faults.append(Fault("script_id", "Specify a stored script, or send one as script.source."))
    return faults


def _host(binding: Binding, body: TaskBody) -> str | None:
    """The host's id, from host_id, hostname or a nested record."""
    inside = body.host.id or body.host.also_id if isinstance(body.host, HostBody) else body.host
    named = {body.host_id or None, inside or None, _host_by_name(binding, body.hostname)}
    chosen = _choose_id(binding, "host_id", named)
    # The current host is not looked up: a task whose host was deleted can still be edited.
    if chosen is not None and chosen != _current_id(binding, "host_id"):
        _must_exist("host_id", "There is no such host.", host_rows.find, binding, chosen)
    return chosen


def _host_by_name(binding: Binding, hostname: str | None) -> str | None:
    if not hostname:
        return None
    is_name = hostname.isprintable()
    host = (
        host_rows.find_by_name(binding.tx, binding.actor.customer_id, hostname) if is_name else None
    )
    if host is None:
        raise invalid_task([Fault("hostname", f"There is no host named {hostname!r}.")])
    return host.id


def _script(binding: Binding, body: TaskBody) -> str | None:
    """The id of the stored file that the body names, or of one created from its inline script."""
    inline, inside = script_in(body)
    chosen = _choose_id(binding, "script_id", {body.script_id or None, inside or None})
    if chosen is not None and chosen != _current_id(binding, "script_id"):
        _must_exist("script_id", "There is no such file.", file_rows.find, binding, chosen)
    if inline is None or not inline.is_inline:
        return chosen
    return _store_script(binding, inline, chosen or _current_id(binding, "script_id"))


def _store_script(binding: Binding, inline: ScriptBody, file_id: str | None) -> str:
    """Write a new version of the task's script, or a new file if other objects use the script."""
    change = FileChange(filename=inline.filename, content=content_of(inline.source, inline.data))
    if file_id is not None:
        users = {use.id for use in usage.list_uses(binding.tx, binding.actor.customer_id, file_id)}
        if users <= {binding.task_id}:
            return files.change(binding.tx, binding.actor, file_id, change).id
    if change.filename is UNSET:
        change.filename = "script.sh"
    change.kind = "Script"
    return files.create(binding.tx, binding.actor, change).id


def _choose_id(binding: Binding, field: str, named: set[str | None]) -> str | None:
    """The changed id, if a client sends a record back with only one of its ids changed."""
    old = _current_id(binding, field)
    fresh = named - {None, old}
    if len(fresh) > 1:
        raise invalid_task([Fault(field, "The body names two different objects.")])
    if fresh:
        return fresh.pop()
    return old if binding.keeps_current or old in named else None


def _current_id(binding: Binding, field: str) -> str | None:
    return None if binding.current is None else getattr(binding.current, field)


class _Find(Protocol):
    """Locks and returns the row of an organization, or raises NotFound."""

    def __call__(self, tx: Tx, customer_id: str, object_id: str, /, *, lock: bool) -> object: ...


def _must_exist(field: str, message: str, find: _Find, binding: Binding, object_id: str) -> None:
    if not is_id(object_id):
        raise invalid_task([Fault(field, message)])
    try:
        # Locked: an object that is being deleted must not get a new user.
        find(binding.tx, binding.actor.customer_id, object_id, lock=True)
    except NotFound:
        raise invalid_task([Fault(field, message)]) from None


def _approvers(binding: Binding, user_ids: Sequence[str]) -> list[str]:
    """Converts e-mail addresses, user names, ids and tags to user ids and member tags."""
    if not user_ids:
        return []
    current = frozenset(binding.current.approvers) if binding.current else frozenset[str]()
    try:
        entries = acl.resolve(binding.tx, binding.actor.customer_id, user_ids, current)
    except Invalid as refused:
        faults = [Fault(f.field.replace("users", "approvers"), f.message) for f in refused.faults]
        raise invalid_task(faults or [Fault("approvers", refused.message)]) from None
    ids = {
        member.email: member.user_id
        for member in memberships.list_members(binding.tx, binding.actor)
    }
    return list(dict.fromkeys(ids.get(entry, entry) for entry in entries))
