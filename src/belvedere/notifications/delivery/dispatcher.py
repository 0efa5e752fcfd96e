"""The dispatcher claims due messages, hands them to the egress pool and records the results.
Mails of the installation itself (invitations, password resets) are written here too."""

import asyncio
import logging
import random

import msgspec

from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service as customers
from belvedere.base.clock import HOUR, SECOND
from belvedere.base.errors import Refused
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx, is_database_fault
from belvedere.egress.lanes import LaneUsage
from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.notifications import store
from belvedere.notifications.delivery import message_text, messages, outbox
from belvedere.notifications.delivery.messages import Message
from belvedere.notifications.model import WEBHOOK, ChannelRow

log = logging.getLogger("belvedere.notifications")

# Waiting mails of one organization; further ones appear only in people's inboxes.
MAX_WAITING_MAILS = 500
# Mails about accounts are due this much earlier, so that they are claimed first.
ACCOUNT_LEAD = HOUR


class SealedMail(msgspec.Struct):
    """The text of a mail, encrypted in the database until the mail is sent."""

    title: str
    body: str


async def send_due(db: Database, keys: Keyring, pool: EgressPool) -> None:
    """Start sending as many messages as there are free places, without waiting for their end."""
    async with pool.claiming:
        lanes = [lane for lane in pool.usage.values() if lane.free]
        if not lanes or not await db.read(outbox.any_due):
            return
        for lane, claimed in zip(lanes, await db.write(outbox.claim_fairly, lanes), strict=True):
            for message in claimed:
                _begin(db, keys, pool, lane, message)


def _begin(
    db: Database, keys: Keyring, pool: EgressPool, lane: LaneUsage, message: Message
) -> None:
    lane.begin(message.customer_id)
    task = asyncio.create_task(_send(db, keys, pool, lane, message))
    pool.tasks.add(task)
    task.add_done_callback(pool.tasks.discard)


async def _send(
    db: Database, keys: Keyring, pool: EgressPool, lane: LaneUsage, message: Message
) -> None:
    try:
        try:
            await send(db, keys, pool, message)
        finally:
            lane.end(message.customer_id)
        # The next message for the same receiver need not wait for the next run of the loop.
        await send_due(db, keys, pool)
    except Exception:
        # The lease ends, and this or another server tries again.
        log.exception("message could not be sent message=%s", message.id)


async def send(
    db: Database, keys: Keyring, pool: EgressPool, message: Message, *, is_test: bool = False
) -> Message:
    """One attempt at a message that this server has claimed. No transaction is open meanwhile."""
    try:
        request = await db.read(build_request, keys, pool.mail, message)
    except Refused as refusal:
        if is_database_fault(refusal) and not is_test:
            # No fault of the message: it is sent when its lease ends.
            raise
        result = EgressResult(refusal.message, for_good=True)
    else:
        request.is_test = is_test
        result = await pool.of(message.customer_id).send(request)
    if is_test:
        # The caller waits for the result: a test that arrives hours later would confuse people.
        result = msgspec.structs.replace(result, for_good=True)
    completed = await db.write(outbox.complete, message, result, random.random())
    return message if completed is None else completed


def build_request(tx: Tx, keys: Keyring, mail_server: str, message: Message) -> EgressRequest:
    """The message as an egress worker takes it, with the decrypted address."""
    if message.channel_id is None:
        return _mail_request(keys, mail_server, message)
    row = store.find(tx, ChannelRow, message.customer_id, message.channel_id)
    name = customers.find(tx, message.customer_id).name
    notices = message.notice_list
    title = message_text.title(name, notices, message.more)
    request = EgressRequest(
        url=store.channel_url(keys, row),
        title=title,
        body=message_text.text(notices, message.more),
        severity=message.severity,
    )
    if row.service == WEBHOOK:
        secrets = secret_keys.list_valid(tx, keys, row.customer_id, "channel", row.id)
        request.message_id, request.secret, request.at_s = message.id, secrets[0], tx.now // SECOND
        head = (message.id, name, title, message.severity)
        request.payload = message_text.payload(*head, notices, message.more)
    return request


def _mail_request(keys: Keyring, mail_server: str, message: Message) -> EgressRequest:
    if not mail_server:
        raise Refused("BELVEDERE_MAIL is no longer set on this server.")
    mail = msgspec.json.decode(
        keys.unseal(message.box or "", f"message/{message.id}"), type=SealedMail
    )
    return EgressRequest(
        url=mail_server,
        title=mail.title,
        body=mail.body,
        to=message.recipient,
        is_operators=True,
    )


def write_mail(
    tx: Tx,
    keys: Keyring,
    customer_id: str,
    recipient: str,
    mail: SealedMail,
    *,
    is_account: bool = False,
) -> Message | None:
    """Queue a mail of the installation. Its text may contain a link, so it is stored encrypted.
    Invitations and password resets (`is_account`) are sent before the other mails of the
    organization and are never dropped; of the others at most MAX_WAITING_MAILS wait."""
    if not is_account and outbox.waiting_mails(tx, customer_id) >= MAX_WAITING_MAILS:
        return None
    message_id = new_id()
    due_at = tx.now - ACCOUNT_LEAD if is_account else tx.now
    box = keys.seal(msgspec.json.encode(mail).decode(), f"message/{message_id}")
    return messages.insert(
        tx,
        customer_id,
        [],
        title=mail.title,
        recipient=recipient,
        box=box,
        due_at=due_at,
        message_id=message_id,
    )
