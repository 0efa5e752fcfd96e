"""Select hosts by name, id or tag."""

from collections.abc import Sequence

from belvedere.access import Actor
from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.hosts import store
from belvedere.hosts.model import HostRow

# Names, and tags, of one request.
MAX_NAMED = 1_000


def select_hosts(tx: Tx, actor: Actor, named: Sequence[str], tags: Sequence[str]) -> list[HostRow]:
    """The hosts without duplicates, named ones first; raises Invalid if one is unknown or none is
    selected."""
    for field, values in (("hosts", named), ("tags", tags)):
        if len(values) > MAX_NAMED:
            message = f"At most {MAX_NAMED} {field} are allowed."
            raise Invalid(message, code="unknown_hosts", faults=(Fault(field, message),))
    hosts: dict[str, HostRow] = {}
    faults: list[Fault] = []
    for index, name in enumerate(named):
        host = _named(tx, actor.customer_id, name)
        if host is None:
            faults.append(Fault(f"hosts[{index}]", f"There is no host {name[:100]!r}."))
        else:
            hosts[host.id] = host
    for index, tag in enumerate(tags):
        tagged = store.for_tag(tx, actor.customer_id, tag)
        if not tagged:
            faults.append(Fault(f"tags[{index}]", f"No host has the tag {tag[:100]!r}."))
        hosts |= {host.id: host for host in tagged if host.id not in hosts}
    if not hosts and not faults:
        faults.append(Fault("hosts", "Specify hosts or tags."))
    if faults:
        messages = " ".join(fault.message for fault in faults)
        raise Invalid(messages, code="unknown_hosts", faults=tuple(faults))
    return list(hosts.values())


def _named(tx: Tx, customer_id: str, name: str) -> HostRow | None:
    if is_id(name):
        rows = store.by_ids(tx, customer_id, [name])
        return rows[0] if rows else None
    return store.find_by_name(tx, customer_id, name)
