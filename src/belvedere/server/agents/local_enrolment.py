"""Enrolment of the agent of `belvedere up`: the server creates the credential itself."""

from dataclasses import dataclass
from enum import Enum, auto

from belvedere import hosts
from belvedere.access import Actor
from belvedere.access.credentials import enrolment, tokens
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service
from belvedere.agent.setup.enrolment import Credential
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.hosts import store
from belvedere.hosts.model import HostRow
from belvedere.server.agents.in_process import HERE

# Lifetime of the enrolment token, which is used in the transaction that creates it.
LIFE_S = 600


@dataclass(frozen=True, slots=True)
class LocalMachine:
    hostname: str
    fingerprint: str


class CredentialState(Enum):
    VALID = auto()
    # Unknown to the database, for example after the restore of an older backup.
    LOST = auto()
    # Another agent was enrolled for the host.
    REPLACED = auto()
    HOST_DELETED = auto()


def state(tx: Tx, keys: Keyring, credential: Credential) -> CredentialState:
    """Why the server refuses this credential; VALID if there is another reason than the
    credential, for example a disabled organization."""
    if _has_agent_token(tx, "digest", keys.digest(credential.token)):
        return CredentialState.VALID
    deleted_at = tx.value("select deleted_at from hosts where id = ?", credential.host_id)
    if deleted_at is not None:
        return CredentialState.HOST_DELETED
    if _has_agent_token(tx, "host_id", credential.host_id):
        return CredentialState.REPLACED
    return CredentialState.LOST


def _has_agent_token(tx: Tx, column: str, value: str) -> bool:
    assert column in ("digest", "host_id")
    row = tx.row(
        f"select 1 from tokens where {column} = ? and kind = ? and revoked_at is null",
        value,
        tokens.AGENT_TOKEN,
    )
    return row is not None


def enrol(
    tx: Tx, keys: Keyring, machine: LocalMachine, previous: Credential | None = None
) -> Credential:
    """Enrol in the organization of the first start, else in the oldest one."""
    name = tx.value("select name from customers where enabled = 1 order by id limit 1")
    customer = service.by_name(tx, name or "")
    if customer is None:
        raise NotFound("There is no organization yet.", code="customer_not_found")
    operator = service.operator(customer)
    text = _enrolment_text(tx, keys, operator, _own_host(tx, operator, machine, previous))
    enrolled = hosts.enrol(tx, keys, text, machine.hostname, machine.fingerprint, HERE[0])
    return Credential(enrolled.token, enrolled.host_id, enrolled.customer, enrolled.hostname)


def _own_host(
    tx: Tx, operator: Actor, machine: LocalMachine, previous: Credential | None
) -> HostRow | None:
    """The host that this agent had before, also if it was renamed."""
    if previous is not None:
        for host in store.by_ids(tx, operator.customer_id, [previous.host_id]):
            return host
    return store.find_by_name(tx, operator.customer_id, machine.hostname)


def _enrolment_text(tx: Tx, keys: Keyring, operator: Actor, host: HostRow | None) -> str:
    """The server's process has the operator's permissions, so it may bind its own host again."""
    if host is not None:
        return hosts.create_host_enrolment(tx, keys, operator, host.id, LIFE_S)[1]
    return enrolment.create_enrolment(
        tx, keys, operator, name="local agent", uses=1, life_s=LIFE_S
    )[1]
