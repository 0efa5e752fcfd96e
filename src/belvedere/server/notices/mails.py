"""Mails that the installation itself sends, where the operator gave it a mail server: invitations,
links for a new password, changes of the own account, requests for an approval, and what
notification tasks send."""

from collections.abc import Callable, Sequence

import msgspec

from belvedere.access.credentials import one_time_links
from belvedere.access.customers import service
from belvedere.access.people import memberships
from belvedere.access.signin import sessions
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import permissions, specs
from belvedere.jobs.approvals import links as vote_links
from belvedere.jobs.approvals import page, plan
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.model import APPROVAL, JobRow, Lifecycle
from belvedere.notifications.delivery import dispatcher, message_text
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.notifications.model import MAX_NOTICE_TEXT
from belvedere.server.notices import accounts, jobs
from belvedere.server.notices.batch import Turn
from belvedere.server.runtime import ServerRuntime

_INVITATION = (
    "You are invited to {customer} on Belvedere.\n\nYour way in, for seven days:\n{link}\n"
)
_RESET = (
    "Somebody, hopefully you, said that your password for Belvedere is forgotten.\n\n"
    "Set a new one here, within a day:\n{link}\n\nIf it was not you, do nothing.\n"
)


_ASKED = "{name} waits for your approval.\n\n{runs}\n\n{ways}\n"
_BY_LINK = (
    "Approve: {approve}\nReject:  {reject}\n\n"
    "Each link asks once more, works once, and is yours alone: do not pass it on."
)
_BY_HAND = "Approve: belvedere job approve {id}\nReject:  belvedere job reject {id}"


def write(tx: Tx, runtime: ServerRuntime, found: Sequence[Event]) -> None:
    """The mails that follow from events, into the outbox."""
    if not runtime.settings.mail:
        return
    for event in found:
        writer = _WRITERS.get(event.kind)
        if writer is not None:
            writer(tx, runtime, event)


def _invitation(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """A link of its own, beside the one that the inviter was shown."""
    member = _member(tx, event)
    if member is None or member.invited_at is None:
        return
    whose = (one_time_links.INVITATION, member.user_id, event.customer_id, "operator")
    _, token = one_time_links.create(
        tx, runtime.keyring, *whose, proof=one_time_links.MAIL, beside=True
    )
    name = service.find(tx, event.customer_id).name
    body = _INVITATION.format(customer=name, link=_link(runtime, token))
    letter = SealedMail(f"Invitation to {name}", body)
    whose_mail = (event.customer_id, member.email)
    dispatcher.write_mail(tx, runtime.keyring, *whose_mail, letter, is_account=True)


def _recovery(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """To the person's own address, so it may open all of the person's organizations. One is told
    of each: the first of them writes."""
    member = _member(tx, event)
    if member is None or sessions.list_memberships(tx, member.user_id)[0].member_id != member.id:
        return
    whose = (one_time_links.RESET, member.user_id, event.customer_id, "operator")
    _, token = one_time_links.create(tx, runtime.keyring, *whose, proof=one_time_links.MAIL)
    by = service.operator(service.find(tx, event.customer_id))
    memberships.record_change(
        tx, by, "link", "link_made", member.id, None, {"kind": one_time_links.RESET}
    )
    letter = SealedMail("A new password for Belvedere", _RESET.format(link=_link(runtime, token)))
    whose_mail = (event.customer_id, member.email)
    dispatcher.write_mail(tx, runtime.keyring, *whose_mail, letter, is_account=True)


def _account(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    accounts.write_mail(tx, runtime, event, msgspec.json.decode(event.data))


def _of_job(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    # Most jobs are neither, and there are many.
    if "NotificationJob" in event.data:
        _note(tx, runtime, event)
    elif APPROVAL in event.data:
        _request(tx, runtime, event)


def _request(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """To each approver, with links of their own where the address of this server is known."""
    job = tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or job.type != APPROVAL or job.lifecycle != Lifecycle.ONHOLD or not job.notify:
        return
    turn = Turn(tx, runtime.settings.base_url, ())
    runs = _runs(plan.of_job(tx, job.id))
    title = message_text.one_line(f"{job.name} waits for your approval")
    for member in turn.members(event.customer_id):
        if permissions.may_decide(tx, member, job):
            ways = _ways(tx, runtime, job, member.user_id)
            body = _ASKED.format(name=message_text.one_line(job.name), runs=runs, ways=ways)
            dispatcher.write_mail(
                tx, runtime.keyring, event.customer_id, member.email, SealedMail(title, body)
            )


def _ways(tx: Tx, runtime: ServerRuntime, job: JobRow, user_id: str) -> str:
    if not runtime.settings.url:
        return _BY_HAND.format(id=job.id)
    tokens = vote_links.make(tx, runtime.keyring, job, user_id)
    base = f"{runtime.settings.base_url}/-/approval/"
    return _BY_LINK.format(**{verb: base + token for verb, token in tokens.items()})


def _runs(found: Plan) -> str:
    if not found:
        return "Nothing else runs when you approve."
    said = [
        "\n  ".join([f"- {message_text.one_line(one.name)}", *map(_line, page.lines(one))])
        for one in found
    ]
    return "When you approve, this runs:\n" + "\n".join(said)


def _line(said: tuple[str, str]) -> str:
    return message_text.one_line(" ".join(said), MAX_NOTICE_TEXT)


def _note(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    job = tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or job.type != "NotificationJob" or not job.notify:
        return
    if not specs.of_job(tx, job).notification_types.get("email"):
        return
    subject, body, to = jobs.note_of(tx, job)
    turn = Turn(tx, runtime.settings.base_url, ())
    for member in turn.members(event.customer_id):
        if jobs.is_recipient(member, to):
            letter = SealedMail(message_text.one_line(subject), body)
            dispatcher.write_mail(tx, runtime.keyring, event.customer_id, member.email, letter)


def _member(tx: Tx, event: Event) -> memberships.Member | None:
    """Whom it is about, unless the person has left again meanwhile."""
    try:
        found = memberships.find(tx, event.customer_id, event.object_id)
    except NotFound:
        return None
    return found if found.enabled and found.user_enabled else None


def _link(runtime: ServerRuntime, token: str) -> str:
    # Behind the #, so that no server on the way ever logs the token.
    return f"{runtime.settings.base_url}/ui/link#{token}"


_WRITERS: dict[str, Callable[[Tx, ServerRuntime, Event], None]] = {
    "member.invited": _invitation,
    "member.recovery_asked": _recovery,
    "job.created": _of_job,
    **dict.fromkeys(accounts.TITLES, _account),
}
