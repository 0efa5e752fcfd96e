"""Verbs of channels and rules: made and changed by admins, every change audited and told."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.egress.messages import Outcome
from belvedere.notifications import bodies, store
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import message_text, messages, outbox
from belvedere.notifications.delivery.messages import Message
from belvedere.notifications.model import WEBHOOK, WINDOW, ChannelRow, RuleRow, Severity
from belvedere.notifications.store import R
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing

Row = ChannelRow | RuleRow


# Channels


def create_channel(
    tx: Tx, keys: Keys, actor: Actor, body: ChannelBody, checked: Outcome
) -> ChannelRow:
    """`checked` is what the courier said of the address."""
    require(actor, Level.ADMIN)
    if body.name is None:
        raise text_fields.bad("name", "This is required.")
    row = ChannelRow(new_id(), actor.customer_id, "", "", "", "", 1, 1, tx.now, tx.now)
    _write_channel(keys, row, body, checked)
    store.insert(tx, row)
    secret_keys.make(tx, keys, actor.customer_id, "channel", row.id)
    _told(tx, actor, row, "created", None)
    return row


def change_channel(
    tx: Tx,
    keys: Keys,
    actor: Actor,
    channel_id: str,
    body: ChannelBody,
    checked: Outcome | None,
    if_match: int | None,
) -> ChannelRow:
    row = _held(tx, actor, ChannelRow, channel_id, if_match)
    before = msgspec.structs.replace(row)
    _write_channel(keys, row, body, checked)
    return _changed(tx, actor, before, row)


def _write_channel(keys: Keys, row: ChannelRow, body: ChannelBody, checked: Outcome | None) -> None:
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.enable is not None:
        row.enabled = int(body.enable)
    if checked is not None and body.url is not None:
        row.service, row.shown = checked.service, _shown(body.url, checked)
        row.box = keys.seal(body.url, _about(row))


def _shown(url: str, checked: Outcome) -> str:
    """Which receiver it is can be seen, and of our own webhooks the host; the rest is a secret."""
    if checked.service != WEBHOOK:
        return f"{checked.scheme}://***"
    parts = urlsplit(url)
    return f"{checked.scheme}://{parts.netloc}/***"


def url_of(keys: Keys, row: ChannelRow) -> str:
    return keys.unseal(row.box, _about(row))


def _about(row: ChannelRow) -> str:
    return f"channel/{row.customer_id}/{row.id}"


def delete_channel(tx: Tx, actor: Actor, channel_id: str) -> ChannelRow:
    """Gone with its messages; not while a rule uses it."""
    row = _held(tx, actor, ChannelRow, channel_id, None)
    users = store.users_of(tx, actor.customer_id, channel_id)
    if users:
        raise Conflict(
            f"Rules use this channel: {', '.join(users[:5])}. Change them first.",
            code="channel_in_use",
        )
    messages.forget_of(tx, channel_id)
    secret_keys.forget(tx, actor.customer_id, "channel", channel_id)
    return _deleted(tx, actor, row)


def reveal(tx: Tx, keys: Keys, actor: Actor, channel_id: str) -> str:
    """The secret that signs what the channel posts; every reading is audited."""
    _signing(tx, actor, channel_id)
    return secret_keys.reveal(tx, keys, actor, "channel", channel_id)


def rotate(tx: Tx, keys: Keys, actor: Actor, channel_id: str) -> str:
    _signing(tx, actor, channel_id)
    return secret_keys.rotate(tx, keys, actor, "channel", channel_id)


def _signing(tx: Tx, actor: Actor, channel_id: str) -> None:
    if store.find(tx, ChannelRow, actor.customer_id, channel_id).service != WEBHOOK:
        raise Conflict("Only webhooks are signed; this service is not one.", code="not_signed")


def begin_test(tx: Tx, actor: Actor, channel_id: str) -> Message:
    """A message that the caller sends at once."""
    require(actor, Level.ADMIN)
    row = store.find(tx, ChannelRow, actor.customer_id, channel_id)
    if not row.enabled:
        raise Conflict("The channel is disabled; enable it first.", code="channel_disabled")
    notice = message_text.test_notice(row.id, row.name, tx.now)
    message = messages.insert(tx, actor.customer_id, [notice], channel_id=row.id)
    audit.record(tx, actor, "channel.test", "channel", row.id)
    return outbox.hold(tx, message)


# Rules


def create_rule(tx: Tx, actor: Actor, body: RuleBody) -> RuleRow:
    require(actor, Level.ADMIN)
    for field in ("name", "channels"):
        if not getattr(body, field):
            raise text_fields.bad(field, "This is required.")
    row = RuleRow(
        id=new_id(),
        customer_id=actor.customer_id,
        name="",
        enabled=1,
        **dict.fromkeys(("channels", "kinds", "objects", "states", "tags"), "[]"),
        severity=Severity.LOW.value,
        quiet="{}",
        window_ms=WINDOW,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _write_rule(tx, row, body)
    store.insert(tx, row)
    _told(tx, actor, row, "created", None)
    return row


def change_rule(
    tx: Tx, actor: Actor, rule_id: str, body: RuleBody, if_match: int | None
) -> RuleRow:
    row = _held(tx, actor, RuleRow, rule_id, if_match)
    before = msgspec.structs.replace(row)
    _write_rule(tx, row, body)
    return _changed(tx, actor, before, row)


def _write_rule(tx: Tx, row: RuleRow, body: RuleBody) -> None:
    bodies.write_rule(row, body)
    for n, channel_id in enumerate(body.channels or ()):
        # Held: one that is deleted at this moment must not gain a rule.
        if not _is_there(tx, row.customer_id, channel_id):
            raise text_fields.bad(f"channels[{n}]", "There is no such channel.")


def _is_there(tx: Tx, customer_id: str, channel_id: str) -> bool:
    found = tx.row(
        f"select 1 from channels where id = ? and customer_id = ?{tx.sql.lock_rows}",
        channel_id,
        customer_id,
    )
    return found is not None


def delete_rule(tx: Tx, actor: Actor, rule_id: str) -> RuleRow:
    """What it had to say already still goes out."""
    return _deleted(tx, actor, _held(tx, actor, RuleRow, rule_id, None))


# Messages


def retry(tx: Tx, actor: Actor, message_id: str) -> Message:
    require(actor, Level.ADMIN)
    message = messages.find(tx, actor.customer_id, message_id, hold=True)
    if message.state != outbox.DEAD:
        raise Conflict(
            f"The message is {message.state}; only dead ones are tried again.", code="not_dead"
        )
    audit.record(tx, actor, "message.retry", "message", message.id)
    return outbox.again(tx, message)


def list_messages(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Message], int | None]:
    require(actor, Level.ADMIN)
    total = messages.total(tx, actor.customer_id, listing) if listing.count else None
    return messages.page(tx, actor.customer_id, listing), total


# Both


def show(tx: Tx, shape: type[R], actor: Actor, row_id: str) -> R:
    require(actor, Level.ADMIN)
    return store.find(tx, shape, actor.customer_id, row_id)


def listed(tx: Tx, shape: type[R], actor: Actor, listing: Listing) -> tuple[list[R], int | None]:
    """A page, and the total where the caller asked for it."""
    require(actor, Level.ADMIN)
    total = store.total(tx, shape, actor.customer_id, listing) if listing.count else None
    return store.page(tx, shape, actor.customer_id, listing), total


def _held(tx: Tx, actor: Actor, shape: type[R], row_id: str, if_match: int | None) -> R:
    require(actor, Level.ADMIN)
    row = store.find(tx, shape, actor.customer_id, row_id, hold=True)
    if if_match not in (None, row.version):
        raise Stale("It has changed meanwhile; read it again.")
    return row


def _changed(tx: Tx, actor: Actor, before: R, row: R) -> R:
    if before == row:
        return row
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _told(tx, actor, row, "changed", before)
    return row


def _deleted(tx: Tx, actor: Actor, row: R) -> R:
    store.delete(tx, row)
    _told(tx, actor, row, "deleted", row)
    return row


def _told(tx: Tx, actor: Actor, row: Row, what: str, before: Row | None) -> None:
    word = "channel" if isinstance(row, ChannelRow) else "rule"
    after = None if what == "deleted" else _audited(row)
    was = None if before is None else _audited(before)
    audit.record(tx, actor, f"{word}.{_DONE[what]}", word, row.id, was, after)
    data = {"name": row.name, "enable": bool(row.enabled), "version": row.version}
    events.append(tx, row.customer_id, f"{word}.{what}", row.id, data)


_DONE = {"created": "create", "changed": "change", "deleted": "delete"}


def _audited(row: Row) -> dict[str, Any]:
    """Everything that was decided; of an address only what may be seen."""
    hidden = ("box", "customer_id", "created_at", "updated_at")
    return {
        name: value for name, value in msgspec.structs.asdict(row).items() if name not in hidden
    }
