"""People who get a mail about incidents of a status page. They confirm their address first.

The links in the mails contain a token that is derived from the subscriber's id and the key of the
server, so that none is stored and each mail can have one.
"""

import hmac

import msgspec

from belvedere.access import Actor, Level, audit, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.limits.rate_limits import RateWindow
from belvedere.access.people import naming
from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, Clock, Millis, iso, iso_or_none
from belvedere.base.errors import Conflict, NotFound, TooMany
from belvedere.base.ids import is_id, new_id
from belvedere.base.networks import client_network
from belvedere.db import Tx, columns
from belvedere.notifications.delivery import dispatcher
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.statuspages import service
from belvedere.statuspages.model import StatusPageRow

# Subscribers of one page, confirmed or not.
MAX_SUBSCRIBERS = 500
# An address that is not confirmed within this time is deleted.
CONFIRM_SPAN: Millis = DAY
# Requests from one network and for one page in an hour; mails to one address in 15 minutes.
MAX_PER_NETWORK = 10
MAX_PER_PAGE = 60
ADDRESS_SPAN: Millis = 15 * MINUTE
CONFIRM, UNSUBSCRIBE = "confirm", "unsubscribe"
_ID_LENGTH = 24
# Characters of an address that are stored while requests are counted.
MAX_SLUG = 64
_CONFIRM_MAIL = (
    "Someone, probably you, asked for e-mails about incidents of {title}.\n\n"
    "Confirm within a day:\n{link}\n\nIf it was not you, ignore this mail.\n"
)


class SubscriberRow(msgspec.Struct):
    """A row of `statuspage_subscribers`, in the order of the select."""

    id: str
    customer_id: str
    statuspage_id: str
    email: str
    created_at: Millis
    confirmed_at: Millis | None


class SubscriberRecord(msgspec.Struct):
    """`confirmed` is null until the person opens the link in the mail."""

    id: str
    email: str
    confirmed: str | None
    creation_date: str


_ROW = columns(SubscriberRow)


class SubscriptionLimits:
    """How often anybody may ask for a subscription, in memory."""

    def __init__(self, clock: Clock) -> None:
        self._networks = RateWindow(MAX_PER_NETWORK, HOUR, clock)
        self._pages = RateWindow(MAX_PER_PAGE, HOUR, clock)
        self._addresses = RateWindow(1, ADDRESS_SPAN, clock)

    def check(self, address: str, slug: str) -> None:
        network = client_network(address)
        wait = max(self._networks.wait(network), self._pages.wait(slug))
        if wait:
            message = "Too many subscription requests. Try again later."
            raise TooMany(message, retry_after_s=-(-wait // SECOND))

    def count(self, address: str, slug: str) -> None:
        self._networks.add(client_network(address))
        self._pages.add(slug)

    def may_mail(self, slug: str, email: str) -> bool:
        """Whether this address may get another mail of the page."""
        if self._addresses.wait((slug, email)):
            return False
        self._addresses.add((slug, email))
        return True


def list_subscribers(tx: Tx, actor: Actor, page_id: str) -> list[SubscriberRow]:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id)
    sql = f"select {_ROW} from statuspage_subscribers where statuspage_id = ? order by id"
    return tx.all(SubscriberRow, sql, page.id)


def remove(tx: Tx, actor: Actor, page_id: str, subscriber_id: str) -> SubscriberRow:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id)
    row = _find(tx, subscriber_id)
    if row is None or row.statuspage_id != page.id:
        raise _not_found()
    _delete(tx, row)
    entry = ("statuspage.subscriber_remove", "statuspage", page.id)
    audit.record(tx, actor, *entry, {"email": row.email}, None)
    return row


def check_room(tx: Tx, page: StatusPageRow) -> None:
    """The same for every address, so that the response does not reveal who is subscribed."""
    sql = "select count(*) from statuspage_subscribers where statuspage_id = ? and"
    current = f"{sql} (confirmed_at is not null or created_at > ?)"
    if tx.value(current, page.id, tx.now - CONFIRM_SPAN) >= MAX_SUBSCRIBERS:
        message = "This page has reached its limit of subscribers. Use the feed instead."
        raise Conflict(message, code="too_many_subscribers")


def subscribe(tx: Tx, keys: Keyring, base_url: str, slug: str, email: str) -> None:
    """Queue a mail with a link that confirms the address; nothing for one that is confirmed."""
    page = service.public_row(tx, slug)
    tx.execute(
        "delete from statuspage_subscribers where statuspage_id = ? and confirmed_at is null"
        " and created_at <= ?",
        *(page.id, tx.now - CONFIRM_SPAN),
    )
    sql = f"select {_ROW} from statuspage_subscribers where statuspage_id = ? and email = ?"
    row = tx.one(SubscriberRow, sql, page.id, email) or _insert(tx, page, email)
    if row.confirmed_at is not None:
        return
    link = link_for(keys, base_url, slug, row.id, CONFIRM)
    mail = SealedMail(
        f"Confirm your subscription to {page.title}",
        _CONFIRM_MAIL.format(title=page.title, link=link),
    )
    dispatcher.write_mail(tx, keys, page.customer_id, email, mail)


def _insert(tx: Tx, page: StatusPageRow, email: str) -> SubscriberRow:
    row = SubscriberRow(new_id(), page.customer_id, page.id, email, tx.now, None)
    marks = ", ".join("?" for _ in SubscriberRow.__struct_fields__)
    values = msgspec.structs.astuple(row)
    # Two requests for the same address can arrive at the same time.
    sql = f"insert into statuspage_subscribers ({_ROW}) values ({marks}) on conflict do nothing"
    tx.execute(sql, *values)
    return row


def confirm(tx: Tx, keys: Keyring, slug: str, token: str) -> None:
    service.public_row(tx, slug)
    row = _find(tx, _verified_id(keys, token, CONFIRM))
    if row is None:
        raise _not_found()
    if row.confirmed_at is None and row.created_at <= tx.now - CONFIRM_SPAN:
        raise _not_found()
    tx.execute(
        "update statuspage_subscribers set confirmed_at = coalesce(confirmed_at, ?) where id = ?",
        *(tx.now, row.id),
    )


def unsubscribe(tx: Tx, keys: Keyring, slug: str, token: str) -> None:
    """Repeating it is not an error, because people open the link twice."""
    service.public_row(tx, slug)
    row = _find(tx, _verified_id(keys, token, UNSUBSCRIBE))
    if row is not None:
        _delete(tx, row)


def link_for(keys: Keyring, base_url: str, slug: str, subscriber_id: str, action: str) -> str:
    """The console asks before it acts: programs that check mails open every link."""
    token = subscriber_id + _proof(keys, subscriber_id, action)
    return f"{base_url}/ui/status/{slug}?{action}={token}"


def _proof(keys: Keyring, subscriber_id: str, action: str) -> str:
    return keys.digest(f"statuspage subscriber {action} {subscriber_id}")


def _verified_id(keys: Keyring, token: str, action: str) -> str:
    subscriber_id, proof = token[:_ID_LENGTH], token[_ID_LENGTH:]
    expected = _proof(keys, subscriber_id, action) if is_id(subscriber_id) else ""
    if not expected or not hmac.compare_digest(proof.encode(), expected.encode()):
        raise _not_found()
    return subscriber_id


def _find(tx: Tx, subscriber_id: str) -> SubscriberRow | None:
    sql = f"select {_ROW} from statuspage_subscribers where id = ?"
    return tx.one(SubscriberRow, sql, subscriber_id)


def _delete(tx: Tx, row: SubscriberRow) -> None:
    tx.execute("delete from statuspage_subscribers where id = ?", row.id)


def _not_found() -> NotFound:
    message = "The link is not valid, has expired, or the subscription has ended."
    return NotFound(message, code="subscription_not_found")


def clean_address(text: str) -> str:
    return naming.email(text)


def to_record(row: SubscriberRow) -> SubscriberRecord:
    return SubscriberRecord(row.id, row.email, iso_or_none(row.confirmed_at), iso(row.created_at))
