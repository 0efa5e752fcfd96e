"""Objects that a monitor refers to: its host, its script or file, members of a nested monitor."""

from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Fault, NotFound
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.files import store as file_store
from belvedere.hosts import store as host_store
from belvedere.monitors import store
from belvedere.monitors.agent_config import MAX_FILE, MAX_SCRIPT
from belvedere.monitors.config.bodies import MonitorBody, MonitorHostBody
from belvedere.monitors.config.validation import invalid_fields
from belvedere.monitors.model import MonitorRow, MonitorType


def resolve_host(tx: Tx, actor: Actor, body: MonitorBody, query_host_id: str | None) -> str:
    """The id of the host that the body or the query names, by id or by name."""
    host_ref = body.host.id if isinstance(body.host, MonitorHostBody) else body.host
    host_id = body.host_id or host_ref or query_host_id
    if host_id:
        if not is_id(host_id):
            raise _host_not_found("host_id")
        return _require_host(tx, actor, host_id)
    if body.hostname:
        host = host_store.find_by_name(tx, actor.customer_id, body.hostname)
        if host is None:
            raise _host_not_found("hostname")
        return host.id
    raise invalid_fields([Fault("host_id", "Set the host that runs the check.")])


def resolve_changed_host(tx: Tx, actor: Actor, row: MonitorRow, body: MonitorBody) -> str | None:
    """The host of a monitor that is being changed: the old one unless the body names another."""
    names = (body.host_id, body.host, body.hostname)
    if row.type in (MonitorType.HOST, MonitorType.NESTED, MonitorType.PUSH) or not any(names):
        return row.host_id
    return resolve_host(tx, actor, body, None)


def _require_host(tx: Tx, actor: Actor, host_id: str) -> str:
    try:
        return host_store.find(tx, actor.customer_id, host_id).id
    except NotFound:
        raise _host_not_found("host_id") from None


def _host_not_found(field: str) -> Exception:
    return invalid_fields([Fault(field, "There is no such host.")])


def check(tx: Tx, customer_id: str, type_: MonitorType, config: dict[str, Any]) -> None:
    """Reject a configuration that refers to a file or monitor that does not exist."""
    if type_ is MonitorType.SCRIPT:
        _check_file(tx, customer_id, "script_id", config["script_id"], MAX_SCRIPT)
    if type_ is MonitorType.FILE and config["file"]:
        _check_file(tx, customer_id, "file", config["file"], MAX_FILE)
    if type_ is MonitorType.NESTED:
        _check_members(tx, customer_id, config["monitors"])


def _check_file(tx: Tx, customer_id: str, field: str, file_id: str, max_size: int) -> None:
    try:
        file = file_store.find(tx, customer_id, file_id)
    except NotFound:
        raise invalid_fields([Fault(field, "There is no such file.")]) from None
    if file.size > max_size:
        raise invalid_fields(
            [Fault(field, f"The file of a monitor may have at most {max_size} bytes.")]
        )


def _check_members(tx: Tx, customer_id: str, members: list[str]) -> None:
    states = store.states(tx, customer_id, members)
    faults = [
        Fault(f"monitors[{n}]", "There is no such monitor.")
        if member_id not in states
        else Fault(f"monitors[{n}]", "A nested monitor cannot contain another nested monitor.")
        for n, member_id in enumerate(members)
        if member_id not in states or states[member_id][1] == MonitorType.NESTED
    ]
    if faults:
        raise invalid_fields(faults)
