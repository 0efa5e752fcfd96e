"""One-time approval links in messages: each is valid for one job, one approver and one answer."""

from collections.abc import Callable

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import LINK, Keyring, make_token
from belvedere.access.people import memberships, users
from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx, columns
from belvedere.jobs import permissions, specs
from belvedere.jobs.approvals import plan, votes
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.model import JobRow, Lifecycle

MAX_LIFETIME: Millis = 7 * DAY
VOTES: dict[str, Callable[[Tx, Actor, str, str], JobRow]] = {
    "approve": votes.approve,
    "reject": votes.reject,
}


class ApprovalLink(msgspec.Struct, frozen=True):
    job_id: str
    customer_id: str
    user_id: str
    verb: str
    expires_at: Millis
    used_at: Millis | None


class ApprovalQuestion(msgspec.Struct, frozen=True):
    """The question of an approval link."""

    job: JobRow
    verb: str
    approver: str
    customer_name: str
    will_run: Plan
    expires_at: Millis

    @property
    def is_open(self) -> bool:
        return self.job.lifecycle == Lifecycle.ONHOLD


def create_links(tx: Tx, keys: Keyring, job: JobRow, user_id: str) -> dict[str, str]:
    """A new token for each answer that the task offers; earlier ones of this approver stay
    valid."""
    verbs = votes.enabled_answers(specs.for_job(tx, job))
    tokens = {verb: make_token(LINK) for verb in VOTES if verb in verbs}
    until = min(job.expires_at, tx.now + MAX_LIFETIME)
    tx.execute_many(
        "insert into approval_links"
        f" ({columns(ApprovalLink)}, digest, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (job.id, job.customer_id, user_id, verb, until, None, keys.digest(token), tx.now)
            for verb, token in tokens.items()
        ],
    )
    return tokens


def find_question(tx: Tx, keys: Keyring, token: str) -> ApprovalQuestion | None:
    """The question of the link; also after its use, to show the outcome."""
    link = tx.one(
        ApprovalLink,
        f"select {columns(ApprovalLink)} from approval_links where digest = ? and expires_at > ?",
        keys.digest(token),
        tx.now,
    )
    actor = None if link is None else _approver(tx, link, "")
    if link is None or actor is None:
        return None
    job = permissions.require_visible(tx, actor, link.job_id)
    return _question(tx, link, job, actor)


def vote_by_link(tx: Tx, keys: Keyring, token: str, address: str) -> ApprovalQuestion | None:
    """Vote as the approver to whom it was sent. Of two concurrent uses only one succeeds."""
    link = tx.one(
        ApprovalLink,
        "update approval_links set used_at = ? where digest = ? and used_at is null"
        f" and expires_at > ? returning {columns(ApprovalLink)}",
        tx.now,
        keys.digest(token),
        tx.now,
    )
    actor = None if link is None else _approver(tx, link, address)
    if link is None or actor is None:
        return None
    # If the vote is rejected, the link stays unused: the reason may be temporary.
    job = VOTES[link.verb](tx, actor, link.job_id, "link")
    return _question(tx, link, job, actor)


def _approver(tx: Tx, link: ApprovalLink, address: str) -> Actor | None:
    """The current member; None if it has left or is disabled."""
    user_id = users.current_account(tx, link.customer_id, link.user_id)
    member = memberships.for_user(tx, link.customer_id, user_id)
    is_enabled = tx.value("select enabled from customers where id = ?", link.customer_id)
    if member is None or not (member.enabled and member.user_enabled and is_enabled):
        return None
    return memberships.load_actor(tx, member, address)


def _question(tx: Tx, link: ApprovalLink, job: JobRow, actor: Actor) -> ApprovalQuestion:
    will_run = plan.for_job(tx, job.id)
    return ApprovalQuestion(
        job, link.verb, actor.email, actor.customer_name, will_run, link.expires_at
    )
