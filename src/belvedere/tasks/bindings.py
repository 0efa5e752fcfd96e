"""What a task is bound to: its host, its script, its approvers. Names become ids here."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from belvedere import files
from belvedere.access import Actor, acl, roster
from belvedere.base.errors import Fault, Invalid, NotFound
from belvedere.db import Tx
from belvedere.files import FileChange
from belvedere.files import service as file_service
from belvedere.files import store as file_store
from belvedere.files.given import content_of
from belvedere.hosts import store as host_store
from belvedere.tasks.definition import refusal
from belvedere.tasks.given import HostBody, ScriptBody
from belvedere.tasks.model import TaskSpec, Type


def host(tx: Tx, actor: Actor, body: Any, old: str | None) -> str | None:
    """The host that the body names, by id or by name; `old` is the one it is bound to now."""
    inside = body.host.id or body.host.also_id if isinstance(body.host, HostBody) else body.host
    named = {
        _host_id(tx, actor, "host_id", body.host_id or None, old),
        _host_id(tx, actor, "host", inside or None, old),
        _host_by_name(tx, actor, body.hostname or None),
    }
    return _chosen("host_id", named, old)


def _host_id(tx: Tx, actor: Actor, field: str, host_id: str | None, old: str | None) -> str | None:
    # The bound one is accepted as it is: a task whose host was deleted can still be edited.
    if host_id is not None and host_id is not UNSET and host_id != old:
        try:
            host_store.find(tx, actor.customer_id, host_id)
        except NotFound:
            raise refusal([Fault(field, "There is no such host.")]) from None
    return None if host_id is UNSET else host_id


def _host_by_name(tx: Tx, actor: Actor, hostname: str | None) -> str | None:
    if hostname is None:
        return None
    found = host_store.by_name(tx, actor.customer_id, hostname)
    if found is None:
        raise refusal([Fault("hostname", f"There is no host called {hostname!r}.")])
    return found.id


def script(tx: Tx, actor: Actor, body: Any, old: str | None, task_id: str) -> str | None:
    """The stored file that the body names, or that is made of the text it brings."""
    inline = body.script if isinstance(body.script, ScriptBody) else None
    inside = (inline.id or inline.also_id) if inline else body.script
    given = {body.script_id or None, inside or None} - {UNSET}
    for file_id in given - {None, old}:
        try:
            file_store.find(tx, actor.customer_id, file_id, hold=True)
        except NotFound:
            raise refusal([Fault("script_id", "There is no such file.")]) from None
    named = _chosen("script_id", given, old)
    if inline is None or not inline.is_inline:
        return named
    return _written(tx, actor, inline, named or old, task_id)


def _written(tx: Tx, actor: Actor, inline: ScriptBody, file_id: str | None, task_id: str) -> str:
    """A new version of the task's own script; one that others use too is left alone."""
    given = FileChange(filename=inline.filename, content=content_of(inline.source, inline.data))
    if file_id is not None:
        users = {link.id for link in file_store.links(tx, actor.customer_id, file_id)}
        if users <= {task_id}:
            return file_service.change(tx, actor, file_id, given).id
    if given.filename is UNSET:
        given.filename = "script.sh"
    given.kind = "Script"
    return files.create(tx, actor, given).id


def _chosen(field: str, named: set[str | None], old: str | None) -> str | None:
    """Where a record is sent back with one of its names changed, the changed one counts."""
    fresh = named - {None, old}
    if len(fresh) > 1:
        raise refusal([Fault(field, "The body names two different ones.")])
    if fresh:
        return fresh.pop()
    return old if old in named else None


def approvers(tx: Tx, actor: Actor, given: Sequence[str], old: Sequence[str]) -> list[str]:
    """User ids and member tags, out of e-mails, user names, ids and tags."""
    try:
        entries = acl.resolve(tx, actor.customer_id, given, frozenset(old))
    except Invalid as refused:
        raise refusal(
            [Fault(f.field.replace("users", "approvers"), f.message) for f in refused.faults]
            or [Fault("approvers", refused.message)]
        ) from None
    ids = {member.email: member.user_id for member in roster.everybody(tx, actor)}
    return list(dict.fromkeys(ids.get(entry, entry) for entry in entries))


def lacking(spec: TaskSpec) -> list[Fault]:
    """What a task of this type cannot do without."""
    faults = []
    if spec.type.needs_host and spec.host_id is None:
        faults.append(Fault("host_id", "Name the host, by host_id or hostname."))
    if spec.type is Type.SCRIPT and spec.script_id is None:
        faults.append(Fault("script_id", "Name a stored script, or send one as script.source."))
    return faults
