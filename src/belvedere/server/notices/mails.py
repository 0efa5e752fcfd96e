"""Mails of the installation itself, if a mail server is configured: invitations, password resets,
changes to a person's account, requests for an approval, and mails of notification tasks."""

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
from belvedere.jobs.approvals import links as approval_links
from belvedere.jobs.approvals import page, plan, votes
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.model import APPROVAL, JobRow, Lifecycle
from belvedere.notifications.delivery import dispatcher, message_text
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.notifications.model import MAX_NOTICE_TEXT
from belvedere.server.notices import accounts, jobs
from belvedere.server.notices.batch import NoticeBatch
from belvedere.server.runtime import ServerRuntime

_INVITATION = "You are invited to {customer} on Belvedere.\n\nAccept within seven days:\n{link}\n"
_RESET = (
    "Someone requested a new password for your Belvedere account.\n\n"
    "Set it within a day:\n{link}\n\nIf it was not you, ignore this mail.\n"
)


_REQUEST = "{name} is waiting for your approval.\n\n{runs}\n\n{instructions}\n"
_ANSWERS = {"approve": "Approve:", "reject": "Reject: "}
_LINK_USE = "Each link asks you to confirm, works once, and is only for you: do not forward it."


def write(tx: Tx, runtime: ServerRuntime, batch: Sequence[Event]) -> None:
    """Write the mails of these events to the outbox."""
    if not runtime.settings.mail:
        return
    for event in batch:
        writer = _WRITERS.get(event.kind)
        if writer is not None:
            writer(tx, runtime, event)


def _invitation(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """With another link than the one that the inviter got."""
    member = _member(tx, event)
    if member is None or member.invited_at is None:
        return
    owner = (one_time_links.INVITATION, member.user_id, event.customer_id, "operator")
    _, token = one_time_links.create(
        tx, runtime.keyring, *owner, proof=one_time_links.MAIL, beside=True
    )
    name = service.find(tx, event.customer_id).name
    body = _INVITATION.format(customer=name, link=_link(runtime, token))
    mail = SealedMail(f"Invitation to {name}", body)
    recipient = (event.customer_id, member.email)
    dispatcher.write_mail(tx, runtime.keyring, *recipient, mail, is_account=True)


def _recovery(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """To the person's own address, so the link is valid for all of the person's organizations.
    There is one event for each of them: only the first one sends the mail."""
    member = _member(tx, event)
    if member is None or sessions.list_memberships(tx, member.user_id)[0].member_id != member.id:
        return
    owner = (one_time_links.RESET, member.user_id, event.customer_id, "operator")
    _, token = one_time_links.create(tx, runtime.keyring, *owner, proof=one_time_links.MAIL)
    by = service.operator(service.find(tx, event.customer_id))
    memberships.record_change(
        tx, by, "link", "link_made", member.id, None, {"kind": one_time_links.RESET}
    )
    mail = SealedMail("A new password for Belvedere", _RESET.format(link=_link(runtime, token)))
    recipient = (event.customer_id, member.email)
    dispatcher.write_mail(tx, runtime.keyring, *recipient, mail, is_account=True)


def _account(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    accounts.write_mail(tx, runtime, event, msgspec.json.decode(event.data))


def _of_job(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    # Most jobs are neither; this check is cheap.
    if "NotificationJob" in event.data:
        _note(tx, runtime, event)
    elif APPROVAL in event.data:
        _request(tx, runtime, event)


def _request(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """To each approver, with personal links if the address of this server is configured."""
    job = tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or job.type != APPROVAL or job.lifecycle != Lifecycle.ONHOLD or not job.notify:
        return
    batch = NoticeBatch(tx, runtime.settings.base_url, ())
    runs = _runs(plan.for_job(tx, job.id))
    title = message_text.one_line(f"{job.name} is waiting for your approval")
    for member in batch.members(event.customer_id):
        if permissions.may_decide(tx, member, job):
            instructions = _instructions(tx, runtime, job, member.user_id)
            body = _REQUEST.format(
                name=message_text.one_line(job.name), runs=runs, instructions=instructions
            )
            dispatcher.write_mail(
                tx, runtime.keyring, event.customer_id, member.email, SealedMail(title, body)
            )


def _instructions(tx: Tx, runtime: ServerRuntime, job: JobRow, user_id: str) -> str:
    if not runtime.settings.url:
        verbs = votes.enabled_answers(specs.for_job(tx, job))
        return "\n".join(f"{_ANSWERS[verb]} belvedere job {verb} {job.id}" for verb in verbs)
    tokens = approval_links.create_links(tx, runtime.keyring, job, user_id)
    base = f"{runtime.settings.base_url}/-/approval/"
    links = "\n".join(f"{_ANSWERS[verb]} {base}{token}" for verb, token in tokens.items())
    return f"{links}\n\n{_LINK_USE}"


def _runs(approved: Plan) -> str:
    if not approved:
        return "Nothing else runs when you approve."
    descriptions = [
        "\n  ".join(
            [f"- {message_text.one_line(planned.name)}", *map(_line, page.describe_task(planned))]
        )
        for planned in approved
    ]
    return "When you approve, this runs:\n" + "\n".join(descriptions)


def _line(label_and_value: tuple[str, str]) -> str:
    return message_text.one_line(" ".join(label_and_value), MAX_NOTICE_TEXT)


def _note(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    job = tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or job.type != "NotificationJob" or not job.notify:
        return
    if not specs.for_job(tx, job).notification_types.get("email"):
        return
    subject, body, to = jobs.note_of(tx, job)
    batch = NoticeBatch(tx, runtime.settings.base_url, ())
    for member in batch.members(event.customer_id):
        if jobs.is_recipient(member, to):
            mail = SealedMail(message_text.one_line(subject), body)
            dispatcher.write_mail(tx, runtime.keyring, event.customer_id, member.email, mail)


def _member(tx: Tx, event: Event) -> memberships.Member | None:
    """The member of the event, unless the person has left meanwhile."""
    try:
        member = memberships.find(tx, event.customer_id, event.object_id)
    except NotFound:
        return None
    return member if member.enabled and member.user_enabled else None


def _link(runtime: ServerRuntime, token: str) -> str:
    # After the #, so that no server on the way logs the token.
    return f"{runtime.settings.base_url}/ui/link#{token}"


_WRITERS: dict[str, Callable[[Tx, ServerRuntime, Event], None]] = {
    "member.invited": _invitation,
    "member.recovery_asked": _recovery,
    "job.created": _of_job,
    **dict.fromkeys(accounts.TITLES, _account),
}
