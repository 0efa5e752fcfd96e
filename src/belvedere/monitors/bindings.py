"""What a monitor is bound to: its host, the script it runs, the monitors it holds."""

from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Fault, NotFound
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.files import store as file_store
from belvedere.hosts import store as host_store
from belvedere.monitors import store
from belvedere.monitors.agent_config import MAX_SCRIPT
from belvedere.monitors.config.bodies import HostBody, MonitorBody
from belvedere.monitors.config.validation import refusal
from belvedere.monitors.model import MonitorRow, Type


def host_of(tx: Tx, actor: Actor, body: MonitorBody, by_query: str | None) -> str:
    """The host that the body or the query names, by id or by name."""
    named = body.host.id if isinstance(body.host, HostBody) else body.host
    host_id = body.host_id or named or by_query
    if host_id:
        if not is_id(host_id):
            raise _no_host("host_id")
        return _found(tx, actor, host_id)
    if body.hostname:
        found = host_store.by_name(tx, actor.customer_id, body.hostname)
        if found is None:
            raise _no_host("hostname")
        return found.id
    raise refusal([Fault("host_id", "Say on which host it is checked.")])


def host_again(tx: Tx, actor: Actor, row: MonitorRow, body: MonitorBody) -> str | None:
    """The host of one that is being changed: another one only if the body says so."""
    names = (body.host_id, body.host, body.hostname)
    if row.type in (Type.HOST, Type.NESTED, Type.PUSH) or not any(names):
        return row.host_id
    return host_of(tx, actor, body, None)


def _found(tx: Tx, actor: Actor, host_id: str) -> str:
    try:
        return host_store.find(tx, actor.customer_id, host_id).id
    except NotFound:
        raise _no_host("host_id") from None


def _no_host(field: str) -> Exception:
    return refusal([Fault(field, "There is no such host.")])


def check(tx: Tx, customer_id: str, type_: Type, config: dict[str, Any]) -> None:
    """Whether what the configuration names is there."""
    if type_ is Type.SCRIPT:
        _check_script(tx, customer_id, config["script_id"])
    if type_ is Type.NESTED:
        _check_members(tx, customer_id, config["monitors"])


def _check_script(tx: Tx, customer_id: str, script_id: str) -> None:
    try:
        file = file_store.find(tx, customer_id, script_id)
    except NotFound:
        raise refusal([Fault("script_id", "There is no such file.")]) from None
    if file.size > MAX_SCRIPT:
        raise refusal([Fault("script_id", f"A monitor's script has at most {MAX_SCRIPT} bytes.")])


def _check_members(tx: Tx, customer_id: str, members: list[str]) -> None:
    found = store.states(tx, customer_id, members)
    faults = [
        Fault(f"monitors[{n}]", "There is no such monitor.")
        if one not in found
        else Fault(f"monitors[{n}]", "A nested monitor cannot hold another.")
        for n, one in enumerate(members)
        if one not in found or found[one][1] == Type.NESTED
    ]
    if faults:
        raise refusal(faults)
