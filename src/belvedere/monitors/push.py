"""Monitors that are told: a URL with a secret, called by whatever shall not fall silent."""

import msgspec

from belvedere.access import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Fault, Forbidden
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.monitors import store
from belvedere.monitors.config.validation import refusal
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.samples import Look
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import Type
from belvedere.rest import text_fields

WORDS: dict[str, Outcome] = {
    "": "normal",
    "normal": "normal",
    "success": "normal",
    "ok": "normal",
    "up": "normal",
    "failure": "failure",
    "fail": "failure",
    "error": "failure",
    "down": "failure",
}


class Pushed(msgspec.Struct):
    """What the call did."""

    message: str
    state: str


def push(
    tx: Tx,
    keys: Keyring,
    customer: str | None,
    monitor_id: str,
    secret: str,
    said: tuple[str, str],
) -> Pushed:
    """The thing is alive, or says that it failed. Whatever does not fit together is one refusal."""
    customer_id = _customer_id(tx, customer, monitor_id)
    if not secret_keys.check(tx, keys, customer_id, "monitor", monitor_id, secret):
        raise _wrong()
    row = store.find(tx, customer_id, monitor_id, hold=True)
    state, message = said[0].lower(), text_fields.prose("message", said[1], most=1_000)
    if state not in WORDS:
        raise refusal([Fault("state", f"Give one of {', '.join(word for word in WORDS if word)}.")])
    if not row.enabled:
        raise Conflict("The monitor is paused.", code="monitor_paused")
    look = Look(tx.now, WORDS[state], "push", message)
    samples.look_at(tx, [(row, look)], keeps_history=quota.has_room(tx, row.customer_id))
    return Pushed("success", row.state)


def _customer_id(tx: Tx, customer: str | None, monitor_id: str) -> str:
    """Whose monitor it is, if that is the organization that was named; empty when nothing fits."""
    row = tx.row(
        "select c.id, c.name_key from monitors m join customers c on c.id = m.customer_id"
        " where m.id = ? and m.deleted_at is null and c.enabled = 1",
        monitor_id,
    )
    return "" if row is None or customer not in (None, row[1]) else str(row[0])


def _wrong() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def reveal(tx: Tx, keys: Keyring, actor: Actor, monitor_id: str) -> str:
    """The secret of its URL; every reading is audited."""
    _check_type(tx, actor, monitor_id)
    return secret_keys.reveal(tx, keys, actor, "monitor", monitor_id)


def rotate(tx: Tx, keys: Keyring, actor: Actor, monitor_id: str, overlap_s: int) -> str:
    _check_type(tx, actor, monitor_id)
    return secret_keys.rotate(tx, keys, actor, "monitor", monitor_id, overlap_s)


def _check_type(tx: Tx, actor: Actor, monitor_id: str) -> None:
    row = store.find(tx, actor.customer_id, monitor_id)
    if row.type != Type.PUSH:
        raise Conflict("Only a monitor of type push has a URL to be called.", code="no_push_url")
