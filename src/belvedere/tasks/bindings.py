"""What a task is bound to: its host, its script, its approvers. Names become ids here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from belvedere.tasks.bodies import HostBody, ScriptBody
from belvedere.tasks.definition import validation
from belvedere.tasks.definition.validation import refusal
from belvedere.tasks.model import TaskSpec, Type


@dataclass(frozen=True, slots=True)
class Binding:
    """One look at what a body names: who asks, for which task, and what it is bound to now."""

    tx: Tx
    actor: Actor
    task_id: str
    # The definition so far, None for a new task.
    old: TaskSpec | None = None
    # What the body does not name stays as it is.
    keeps: bool = False


def bound(to: Binding, body: Any, spec: TaskSpec) -> TaskSpec:
    """The definition with everything that it names looked up, and checked as a whole."""
    spec = msgspec.structs.replace(
        spec,
        host_id=_host(to, body) if spec.type.needs_host else None,
        script_id=None,
        approvers=_approvers(to, spec.approvers),
    )
    # All that can be refused is refused before a script is stored.
    spec = validation.checked(spec)
    script_id = _script(to, body) if spec.type is Type.SCRIPT else None
    spec = msgspec.structs.replace(spec, script_id=script_id)
    faults = _lacking(spec)
    if faults:
        raise refusal(faults)
    return spec


def _lacking(spec: TaskSpec) -> list[Fault]:
    faults = []
    if spec.type.needs_host and spec.host_id is None:
        faults.append(Fault("host_id", "Name the host, by host_id or hostname."))
    if spec.type is Type.SCRIPT and spec.script_id is None:
        faults.append(Fault("script_id", "Name a stored script, or send one as script.source."))
    return faults


def _host(to: Binding, body: Any) -> str | None:
    """By id, by name, or as records show it."""
    inside = body.host.id or body.host.also_id if isinstance(body.host, HostBody) else body.host
    named = {body.host_id or None, inside or None, _host_by_name(to, body.hostname)}
    chosen = _chosen(to, "host_id", named)
    # The bound one is accepted as it is: a task whose host was deleted can still be edited.
    if chosen is not None and chosen != _old(to, "host_id"):
        _must_exist("host_id", "There is no such host.", host_rows.find, to, chosen)
    return chosen


def _host_by_name(to: Binding, hostname: str | None) -> str | None:
    if not hostname:
        return None
    is_name = hostname.isprintable()
    host = host_rows.by_name(to.tx, to.actor.customer_id, hostname) if is_name else None
    if host is None:
        raise refusal([Fault("hostname", f"There is no host called {hostname!r}.")])
    return host.id


def _script(to: Binding, body: Any) -> str | None:
    """The stored file that the body names, or that is made of the text it brings."""
    inline = body.script if isinstance(body.script, ScriptBody) else None
    inside = inline.id or inline.also_id if inline else body.script
    chosen = _chosen(to, "script_id", {body.script_id or None, inside or None})
    if chosen is not None and chosen != _old(to, "script_id"):
        _must_exist("script_id", "There is no such file.", file_rows.find, to, chosen)
    if inline is None or not inline.is_inline:
        return chosen
    return _written(to, inline, chosen or _old(to, "script_id"))


def _written(to: Binding, inline: ScriptBody, file_id: str | None) -> str:
    """A new version of the task's own script; one that others use too is left alone."""
    change = FileChange(filename=inline.filename, content=content_of(inline.source, inline.data))
    if file_id is not None:
        users = {use.id for use in usage.list_uses(to.tx, to.actor.customer_id, file_id)}
        if users <= {to.task_id}:
            return files.change(to.tx, to.actor, file_id, change).id
    if change.filename is UNSET:
        change.filename = "script.sh"
    change.kind = "Script"
    return files.create(to.tx, to.actor, change).id


def _chosen(to: Binding, field: str, named: set[str | None]) -> str | None:
    """Where a record is sent back with one of its names changed, the changed one counts."""
    old = _old(to, field)
    fresh = named - {None, old}
    if len(fresh) > 1:
        raise refusal([Fault(field, "The body names two different ones.")])
    if fresh:
        return fresh.pop()
    return old if to.keeps or old in named else None


def _old(to: Binding, field: str) -> str | None:
    return None if to.old is None else getattr(to.old, field)


def _must_exist(field: str, message: str, find: Any, to: Binding, object_id: str) -> None:
    if not is_id(object_id):
        raise refusal([Fault(field, message)])
    try:
        # Held: what is deleted at this moment must not gain a user.
        find(to.tx, to.actor.customer_id, object_id, hold=True)
    except NotFound:
        raise refusal([Fault(field, message)]) from None


def _approvers(to: Binding, user_ids: Sequence[str]) -> list[str]:
    """User ids and member tags, out of e-mails, user names, ids and tags."""
    if not user_ids:
        return []
    current = frozenset(to.old.approvers) if to.old else frozenset[str]()
    try:
        entries = acl.resolve(to.tx, to.actor.customer_id, user_ids, current)
    except Invalid as refused:
        faults = [Fault(f.field.replace("users", "approvers"), f.message) for f in refused.faults]
        raise refusal(faults or [Fault("approvers", refused.message)]) from None
    ids = {member.email: member.user_id for member in memberships.list_members(to.tx, to.actor)}
    return list(dict.fromkeys(ids.get(entry, entry) for entry in entries))
