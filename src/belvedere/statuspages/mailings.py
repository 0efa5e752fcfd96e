"""Mails about incidents, queued for the subscribers of a page step by step.

All at once they would fill the queue of the organization, and mails about approvals would wait.
"""

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications.delivery import dispatcher, message_text, outbox
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.statuspages import subscribers
from belvedere.statuspages.model import StatusPageRow

# Mails of one step, and waiting mails of an organization above which no more are queued.
BATCH = 50
MAX_WAITING = 100
# Updates of one page whose mails are not queued yet; the oldest is dropped for a new one.
MAX_PENDING = 20
_BODY = "{text}\n\nStatus page: {page}\nUnsubscribe: {unsubscribe}\n"


class Mailing(msgspec.Struct):
    """A row of `statuspage_mailings`, in the order of the select."""

    id: str
    customer_id: str
    statuspage_id: str
    title: str
    body: str
    position: str


_ROW = columns(Mailing)


def add(tx: Tx, page: StatusPageRow, incident: str, state: str, text: str) -> None:
    """A mail to every confirmed subscriber of the page."""
    sql = "select 1 from statuspage_subscribers where statuspage_id = ? limit 1"
    if tx.row(sql, page.id) is None:
        return
    tx.execute(
        "delete from statuspage_mailings where statuspage_id = ? and id not in (select id from"
        " statuspage_mailings where statuspage_id = ? order by id desc limit ?)",
        *(page.id, page.id, MAX_PENDING - 1),
    )
    title = message_text.one_line(f"[{page.title}] {incident}: {state}")
    row = Mailing(new_id(), page.customer_id, page.id, title, text.strip(), "")
    marks = ", ".join("?" for _ in Mailing.__struct_fields__)
    values = msgspec.structs.astuple(row)
    tx.execute(f"insert into statuspage_mailings ({_ROW}) values ({marks})", *values)


def any_mailing(tx: Tx) -> bool:
    return tx.row("select 1 from statuspage_mailings limit 1") is not None


def queue_mails(tx: Tx, keys: Keyring, base_url: str) -> int:
    """One step of every mailing whose organization has room; the number of mails."""
    rows = tx.all(
        Mailing,
        f"select {_ROW} from statuspage_mailings order by id limit ?{tx.dialect.skip_locked}",
        BATCH,
    )
    return sum(_step(tx, keys, base_url, row) for row in rows)


def _step(tx: Tx, keys: Keyring, base_url: str, mailing: Mailing) -> int:
    if outbox.waiting_mails(tx, mailing.customer_id) >= MAX_WAITING:
        return 0
    slug = tx.value("select slug from statuspages where id = ?", mailing.statuspage_id)
    people = tx.rows(
        "select id, email from statuspage_subscribers where statuspage_id = ? and id > ?"
        " and confirmed_at is not null order by id limit ?",
        *(mailing.statuspage_id, mailing.position, BATCH),
    )
    for subscriber_id, email in people:
        mail = SealedMail(mailing.title, _text(keys, base_url, slug, subscriber_id, mailing.body))
        dispatcher.write_mail(tx, keys, mailing.customer_id, email, mail)
    if len(people) < BATCH:
        tx.execute("delete from statuspage_mailings where id = ?", mailing.id)
    else:
        sql = "update statuspage_mailings set position = ? where id = ?"
        tx.execute(sql, people[-1][0], mailing.id)
    return len(people)


def _text(keys: Keyring, base_url: str, slug: str, subscriber_id: str, text: str) -> str:
    action = subscribers.UNSUBSCRIBE
    link = subscribers.link_for(keys, base_url, slug, subscriber_id, action)
    return _BODY.format(text=text, page=f"{base_url}/ui/status/{slug}", unsubscribe=link)
