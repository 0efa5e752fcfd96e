"""Operations on channels, rules and messages. Only admins may call them, except that managers see
who is notified; every change is written to the audit log and the event log."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.base.text import request_masking
from belvedere.base.text.credentials import MASK
from belvedere.db import Tx
from belvedere.egress.messages import EgressResult
from belvedere.notifications import bodies, inbox, store
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import message_text, messages, outbox
from belvedere.notifications.delivery.messages import Message
from belvedere.notifications.model import (
    GROUPING_WINDOW,
    WEBHOOK,
    AddressedNotice,
    ChannelRow,
    NoticeSeverity,
    RuleRow,
)
from belvedere.notifications.store import R
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing
from belvedere.rest.pagination import ListPage

Row = ChannelRow | RuleRow


# Channels


def create_channel(
    tx: Tx, keys: Keyring, actor: Actor, body: ChannelBody, address: EgressResult
) -> ChannelRow:
    """`address` is the egress worker's check of the URL."""
    require(actor, Level.ADMIN)
    if body.name is None:
        raise text_fields.invalid_field("name", "This is required.")
    row = ChannelRow(new_id(), actor.customer_id, "", "", "", "", 1, 1, tx.now, tx.now)
    _write_channel(keys, row, body, address)
    store.insert(tx, row)
    secret_keys.create(tx, keys, actor.customer_id, "channel", row.id)
    _record_change(tx, actor, row, "created", None)
    return row


def change_channel(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    channel_id: str,
    body: ChannelBody,
    address: EgressResult | None,
    if_match: int | None,
) -> ChannelRow:
    row = _locked_row(tx, actor, ChannelRow, channel_id, if_match)
    before = msgspec.structs.replace(row)
    _write_channel(keys, row, body, address)
    return _save_change(tx, actor, before, row)


def _write_channel(
    keys: Keyring, row: ChannelRow, body: ChannelBody, address: EgressResult | None
) -> None:
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.enable is not None:
        row.enabled = int(body.enable)
    if address is not None and body.url is not None:
        row.service, row.shown = address.service, _visible_url(body.url, address)
        row.box = store.seal_url(keys, row, body.url)


def _visible_url(url: str, address: EgressResult) -> str:
    """The part of the URL that may be shown: the scheme, and for webhooks the host."""
    if address.service != WEBHOOK:
        return f"{address.scheme}://***"
    # Without the name and password that may precede the host.
    host = urlsplit(url).netloc.rpartition("@")[2]
    return f"{address.scheme}://{host}/***"


def without_mask(url: str | None, visible_url: str = "") -> str | None:
    """A URL as a record shows it means that it is unchanged."""
    if url is None or MASK not in url:
        return url
    if url != visible_url:
        raise request_masking.unresolved_mask("url")
    return None


def delete_channel(tx: Tx, actor: Actor, channel_id: str) -> ChannelRow:
    """Delete a channel with its messages, also from inboxes; refused while a rule uses it."""
    row = _locked_row(tx, actor, ChannelRow, channel_id, None)
    rules = store.rules_using(tx, actor.customer_id, channel_id)
    if rules:
        raise Conflict(
            f"Rules use this channel: {', '.join(rules[:5])}. Change them first.",
            code="channel_in_use",
        )
    inbox.delete_for_channel(tx, row.customer_id, channel_id)
    messages.delete_for_channel(tx, channel_id)
    secret_keys.delete(tx, actor.customer_id, "channel", channel_id)
    return _delete(tx, actor, row)


def reveal_secret(tx: Tx, keys: Keyring, actor: Actor, channel_id: str) -> str:
    """The secret that signs the channel's calls; every read is audited."""
    _require_webhook(tx, actor, channel_id)
    return secret_keys.reveal(tx, keys, actor, "channel", channel_id)


def rotate_secret(tx: Tx, keys: Keyring, actor: Actor, channel_id: str) -> str:
    _require_webhook(tx, actor, channel_id)
    return secret_keys.rotate(tx, keys, actor, "channel", channel_id)


def _require_webhook(tx: Tx, actor: Actor, channel_id: str) -> None:
    if store.find(tx, ChannelRow, actor.customer_id, channel_id).service != WEBHOOK:
        raise Conflict("Only webhook channels have a signing secret.", code="not_signed")


def begin_test(tx: Tx, actor: Actor, channel_id: str) -> Message:
    """Create and claim a test message, which the caller sends immediately."""
    require(actor, Level.ADMIN)
    row = store.find(tx, ChannelRow, actor.customer_id, channel_id)
    if not row.enabled:
        raise Conflict("The channel is disabled; enable it first.", code="channel_disabled")
    notice = message_text.test_notice(row.id, row.name, tx.now)
    message = messages.insert(tx, actor.customer_id, [notice], channel_id=row.id)
    audit.record(tx, actor, "channel.test", "channel", row.id)
    return outbox.claim(tx, message)


# Rules


def create_rule(tx: Tx, actor: Actor, body: RuleBody) -> RuleRow:
    require(actor, Level.ADMIN)
    for field in ("name", "channels"):
        if not getattr(body, field):
            raise text_fields.invalid_field(field, "This is required.")
    row = RuleRow(
        id=new_id(),
        customer_id=actor.customer_id,
        name="",
        enabled=1,
        **dict.fromkeys(("channels", "kinds", "objects", "states", "tags"), "[]"),
        severity=NoticeSeverity.LOW.value,
        quiet="{}",
        window_ms=GROUPING_WINDOW,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _write_rule(tx, row, body)
    store.insert(tx, row)
    _record_change(tx, actor, row, "created", None)
    return row


def change_rule(
    tx: Tx, actor: Actor, rule_id: str, body: RuleBody, if_match: int | None
) -> RuleRow:
    row = _locked_row(tx, actor, RuleRow, rule_id, if_match)
    before = msgspec.structs.replace(row)
    _write_rule(tx, row, body)
    return _save_change(tx, actor, before, row)


def _write_rule(tx: Tx, row: RuleRow, body: RuleBody) -> None:
    bodies.write_rule(row, body)
    for n, channel_id in enumerate(body.channels or ()):
        # Locked: a channel that is being deleted must not get a rule.
        if not _lock_channel(tx, row.customer_id, channel_id):
            raise text_fields.invalid_field(f"channels[{n}]", "There is no such channel.")


def _lock_channel(tx: Tx, customer_id: str, channel_id: str) -> bool:
    row = tx.row(
        f"select 1 from channels where id = ? and customer_id = ?{tx.dialect.lock_rows}",
        channel_id,
        customer_id,
    )
    return row is not None


def delete_rule(tx: Tx, actor: Actor, rule_id: str) -> RuleRow:
    """Delete a rule; its waiting messages are still sent."""
    return _delete(tx, actor, _locked_row(tx, actor, RuleRow, rule_id, None))


def recipient_names(tx: Tx, actor: Actor, failure: AddressedNotice) -> list[str]:
    """Names of the enabled channels that this failure would be sent to."""
    require(actor, Level.MANAGER)
    rules = store.active_rules(tx, [actor.customer_id])
    ids = {id_ for rule in rules if rule.matches(failure) for id_ in rule.channels}
    return store.active_channel_names(tx, actor.customer_id, ids)


# Messages


def retry(tx: Tx, actor: Actor, message_id: str) -> Message:
    require(actor, Level.ADMIN)
    message = messages.find(tx, actor.customer_id, message_id, lock=True)
    if message.state != outbox.DEAD:
        raise Conflict(
            f"The message is {message.state}; only dead messages can be retried.",
            code="not_dead",
        )
    audit.record(tx, actor, "message.retry", "message", message.id)
    return outbox.requeue(tx, message)


def read_messages(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[Message]:
    """One step of a list; see `searches.read_list`."""
    require(actor, Level.ADMIN)
    return messages.read_page(tx, actor.customer_id, listing, count_limit, row_limit, size)


# Both


def show(tx: Tx, row_type: type[R], actor: Actor, row_id: str) -> R:
    require(actor, Level.ADMIN)
    return store.find(tx, row_type, actor.customer_id, row_id)


def list_page(
    tx: Tx, row_type: type[R], actor: Actor, listing: Listing
) -> tuple[list[R], int | None]:
    """A page of rows, and the total if the caller asked for it."""
    require(actor, Level.ADMIN)
    total = store.count(tx, row_type, actor.customer_id, listing) if listing.count else None
    return store.select_page(tx, row_type, actor.customer_id, listing), total


def _locked_row(tx: Tx, actor: Actor, row_type: type[R], row_id: str, if_match: int | None) -> R:
    require(actor, Level.ADMIN)
    row = store.find(tx, row_type, actor.customer_id, row_id, lock=True)
    if if_match not in (None, row.version):
        raise Stale("It has been changed since you read it. Reload it and try again.")
    return row


def _save_change(tx: Tx, actor: Actor, before: R, row: R) -> R:
    if before == row:
        return row
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _record_change(tx, actor, row, "changed", before)
    return row


def _delete(tx: Tx, actor: Actor, row: R) -> R:
    store.delete(tx, row)
    _record_change(tx, actor, row, "deleted", row)
    return row


def _record_change(tx: Tx, actor: Actor, row: Row, change: str, before: Row | None) -> None:
    word = "channel" if isinstance(row, ChannelRow) else "rule"
    after = None if change == "deleted" else _audit_fields(row)
    was = None if before is None else _audit_fields(before)
    audit.record(tx, actor, f"{word}.{_DONE[change]}", word, row.id, was, after)
    data = {"name": row.name, "enable": bool(row.enabled), "version": row.version}
    events.append(tx, row.customer_id, f"{word}.{change}", row.id, data)


_DONE = {"created": "create", "changed": "change", "deleted": "delete"}


def _audit_fields(row: Row) -> dict[str, Any]:
    """The columns that people set; of the address only the part that may be shown."""
    hidden = ("box", "customer_id", "created_at", "updated_at")
    return {
        name: value for name, value in msgspec.structs.asdict(row).items() if name not in hidden
    }
