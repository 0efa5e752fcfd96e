"""The post: claims what is due, hands it to the couriers, writes down what came of it."""

import asyncio
import logging
import random

import msgspec

from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keys
from belvedere.access.customers import service as customers
from belvedere.base.clock import HOUR, SECOND
from belvedere.base.errors import Refused
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.egress.messages import Outcome, Parcel
from belvedere.egress.pool import Couriers
from belvedere.notifications import service, store
from belvedere.notifications.delivery import message_text, messages, outbox
from belvedere.notifications.delivery.messages import Message
from belvedere.notifications.delivery.outbox import Room
from belvedere.notifications.model import WEBHOOK, ChannelRow

log = logging.getLogger("belvedere.notifications")

# Mails of one organization that wait; what is more is only in people's inboxes.
MAX_WAITING_MAILS = 500
# What was due so much earlier is claimed first.
ACCOUNT_LEAD = HOUR


class Letter(msgspec.Struct):
    """The text of a mail that is sealed while it waits."""

    title: str
    body: str


async def send_due(db: Database, keys: Keys, couriers: Couriers) -> None:
    """Start as many as there are places free; they end in their own time."""
    async with couriers.claiming:
        rooms = [room for room in couriers.rooms.values() if room.free]
        if not rooms or not await db.read(outbox.any_due):
            return
        for room, found in zip(rooms, await db.write(outbox.claim_fairly, rooms), strict=True):
            for message in found:
                _begin(db, keys, couriers, room, message)


def _begin(db: Database, keys: Keys, couriers: Couriers, room: Room, message: Message) -> None:
    room.begin(message.customer_id)
    task = asyncio.create_task(_send(db, keys, couriers, room, message))
    couriers.tasks.add(task)
    task.add_done_callback(couriers.tasks.discard)


async def _send(db: Database, keys: Keys, couriers: Couriers, room: Room, message: Message) -> None:
    try:
        try:
            await send(db, keys, couriers, message)
        finally:
            room.end(message.customer_id)
        # The next for the same receiver need not wait for the next look.
        await send_due(db, keys, couriers)
    except Exception:
        # The lease runs out, and it is tried again: by us or by another server.
        log.exception("the message %s could not be sent", message.id)


async def send(db: Database, keys: Keys, couriers: Couriers, message: Message) -> Message:
    """One try of a message that this server has claimed. Nothing is held in the database while
    it goes on."""
    try:
        parcel = await db.read(packed, keys, couriers.mail, message)
    except Refused as refusal:
        outcome = Outcome(refusal.message, for_good=True)
    else:
        outcome = await couriers.of(message.customer_id).carry(parcel)
    settled = await db.write(outbox.settle, message, outcome, random.random())
    return message if settled is None else settled


def packed(tx: Tx, keys: Keys, mail: str, message: Message) -> Parcel:
    """The message as a courier takes it, its address in clear."""
    if message.channel_id is None:
        return _mail(keys, mail, message)
    row = store.find(tx, ChannelRow, message.customer_id, message.channel_id)
    name = customers.find(tx, message.customer_id).name
    notices = message.notice_list
    title = message_text.title(name, notices, message.more)
    parcel = Parcel(
        url=service.url_of(keys, row),
        title=title,
        body=message_text.text(notices, message.more),
        severity=message.severity,
    )
    if row.service == WEBHOOK:
        secrets = secret_keys.live(tx, keys, row.customer_id, "channel", row.id)
        parcel.message_id, parcel.secret, parcel.at_s = message.id, secrets[0], tx.now // SECOND
        about = (message.id, name, title, message.severity)
        parcel.payload = message_text.payload(*about, notices, message.more)
    return parcel


def _mail(keys: Keys, mail: str, message: Message) -> Parcel:
    if not mail:
        raise Refused("This server has no mail setting any more.")
    letter = msgspec.json.decode(
        keys.unseal(message.box or "", f"message/{message.id}"), type=Letter
    )
    return Parcel(
        url=mail,
        title=letter.title,
        body=letter.body,
        to=message.recipient,
        is_operators=True,
    )


def write_mail(
    tx: Tx,
    keys: Keys,
    customer_id: str,
    recipient: str,
    letter: Letter,
    *,
    is_account: bool = False,
) -> Message | None:
    """A mail by the installation; its text may hold a link, so it waits sealed. Invitations and new
    passwords (`is_account`) go before the other mails of the organization and are never dropped;
    of the others only so many wait."""
    if not is_account and outbox.waiting_mails(tx, customer_id) >= MAX_WAITING_MAILS:
        return None
    message_id = new_id()
    due_at = tx.now - ACCOUNT_LEAD if is_account else tx.now
    box = keys.seal(msgspec.json.encode(letter).decode(), f"message/{message_id}")
    return messages.insert(
        tx,
        customer_id,
        [],
        title=letter.title,
        recipient=recipient,
        box=box,
        due_at=due_at,
        message_id=message_id,
    )
