"""Mails that the installation itself sends, where the operator gave it a mail server: invitations,
links for a new password, and what notification tasks send."""

from collections.abc import Callable, Sequence

from belvedere.access import customers, links, roster, sessions
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import specs
from belvedere.jobs.model import JobRow
from belvedere.notifications import post, wording
from belvedere.notifications.post import Letter
from belvedere.server.house import House
from belvedere.server.telling import jobs
from belvedere.server.telling.turn import Turn

_INVITATION = (
    "You are invited to {customer} on Belvedere.\n\nYour way in, for seven days:\n{link}\n"
)
_RESET = (
    "Somebody, hopefully you, said that your password for Belvedere is forgotten.\n\n"
    "Set a new one here, within a day:\n{link}\n\nIf it was not you, do nothing.\n"
)


def write(tx: Tx, house: House, found: Sequence[Event]) -> None:
    """The mails that follow from events, into the outbox."""
    if not house.settings.mail:
        return
    for event in found:
        writer = _WRITERS.get(event.kind)
        if writer is not None:
            writer(tx, house, event)


def _invitation(tx: Tx, house: House, event: Event) -> None:
    """A link of its own, beside the one that the inviter was shown."""
    member = _member(tx, event)
    if member is None or member.invited_at is None:
        return
    whose = (links.INVITATION, member.user_id, event.customer_id, "operator")
    _, token = links.make(tx, house.keys, *whose, beside=True)
    name = customers.find(tx, event.customer_id).name
    body = _INVITATION.format(customer=name, link=_link(house, token))
    letter = Letter(f"Invitation to {name}", body)
    post.write_mail(tx, house.keys, event.customer_id, member.email, letter)


def _recovery(tx: Tx, house: House, event: Event) -> None:
    """To the person's own address, so it may open all of the person's organizations. One is told
    of each: the first of them writes."""
    member = _member(tx, event)
    if member is None or sessions.memberships(tx, member.user_id)[0].member_id != member.id:
        return
    whose = (links.RESET, member.user_id, event.customer_id, "operator")
    _, token = links.make(tx, house.keys, *whose)
    by = customers.operator(customers.find(tx, event.customer_id))
    roster.tell(tx, by, "link", "link_made", member.id, None, {"kind": links.RESET})
    letter = Letter("A new password for Belvedere", _RESET.format(link=_link(house, token)))
    post.write_mail(tx, house.keys, event.customer_id, member.email, letter)


def _note(tx: Tx, house: House, event: Event) -> None:
    # Most jobs are none, and there are many.
    if "NotificationJob" not in event.data:
        return
    job = tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or job.type != "NotificationJob" or not job.notify:
        return
    if not specs.of_job(tx, job).notification_types.get("email"):
        return
    subject, body, to = jobs.note_of(tx, job)
    turn = Turn(tx, house.settings.base_url, ())
    for member in turn.members(event.customer_id):
        if jobs.is_recipient(member, to):
            letter = Letter(wording.one_line(subject), body)
            post.write_mail(tx, house.keys, event.customer_id, member.email, letter)


def _member(tx: Tx, event: Event) -> roster.Member | None:
    """Whom it is about, unless the person has left again meanwhile."""
    try:
        found = roster.find(tx, event.customer_id, event.object_id)
    except NotFound:
        return None
    return found if found.enabled and found.user_enabled else None


def _link(house: House, token: str) -> str:
    # Behind the #, so that no server on the way ever logs the token.
    return f"{house.settings.base_url}/ui/link#{token}"


_WRITERS: dict[str, Callable[[Tx, House, Event], None]] = {
    "member.invited": _invitation,
    "member.recovery_asked": _recovery,
    "job.created": _note,
}
