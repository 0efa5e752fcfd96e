"""One-time links for messages: each is good for one job, one approver, one answer, once."""

from collections.abc import Callable

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import LINK, Keyring, make_token
from belvedere.access.people import memberships, users
from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx, columns
from belvedere.jobs import permissions
from belvedere.jobs.approvals import plan, votes
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.model import JobRow, Lifecycle

LIFE: Millis = 7 * DAY
VERBS: dict[str, Callable[[Tx, Actor, str, str], JobRow]] = {
    "approve": votes.approve,
    "reject": votes.reject,
}


class Link(msgspec.Struct, frozen=True):
    job_id: str
    customer_id: str
    user_id: str
    verb: str
    expires_at: Millis
    used_at: Millis | None


class Asked(msgspec.Struct, frozen=True):
    """What a link is about, for whoever holds it."""

    job: JobRow
    verb: str
    approver: str
    customer_name: str
    will_run: Plan
    expires_at: Millis

    @property
    def is_open(self) -> bool:
        return self.job.lifecycle == Lifecycle.ONHOLD


def make(tx: Tx, keys: Keyring, job: JobRow, user_id: str) -> dict[str, str]:
    """For each answer a new token; those that this approver had before stay good."""
    tokens = {verb: make_token(LINK) for verb in VERBS}
    until = min(job.expires_at, tx.now + LIFE)
    tx.execute_many(
        "insert into approval_links"
        f" ({columns(Link)}, digest, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (job.id, job.customer_id, user_id, verb, until, None, keys.digest(token), tx.now)
            for verb, token in tokens.items()
        ],
    )
    return tokens


def look(tx: Tx, keys: Keyring, token: str) -> Asked | None:
    """What the link asks; also after its use, so that one can see what came of it."""
    link = tx.one(
        Link,
        f"select {columns(Link)} from approval_links where digest = ? and expires_at > ?",
        keys.digest(token),
        tx.now,
    )
    actor = None if link is None else _approver(tx, link, "")
    if link is None or actor is None:
        return None
    job = permissions.to_see(tx, actor, link.job_id)
    return _asked(tx, link, job, actor)


def use(tx: Tx, keys: Keyring, token: str, address: str) -> Asked | None:
    """Answer, as the approver to whom it was sent. Of two who try at once only one succeeds."""
    link = tx.one(
        Link,
        "update approval_links set used_at = ? where digest = ? and used_at is null"
        f" and expires_at > ? returning {columns(Link)}",
        tx.now,
        keys.digest(token),
        tx.now,
    )
    actor = None if link is None else _approver(tx, link, address)
    if link is None or actor is None:
        return None
    # A refused vote undoes the use: the reason may go away.
    job = VERBS[link.verb](tx, actor, link.job_id, "link")
    return _asked(tx, link, job, actor)


def _approver(tx: Tx, link: Link, address: str) -> Actor | None:
    """The member as of today: whoever has left, or was disabled, decides nothing."""
    user_id = users.current_account(tx, link.customer_id, link.user_id)
    member = memberships.for_user(tx, link.customer_id, user_id)
    is_enabled = tx.value("select enabled from customers where id = ?", link.customer_id)
    if member is None or not (member.enabled and member.user_enabled and is_enabled):
        return None
    return memberships.load_actor(tx, member, address)


def _asked(tx: Tx, link: Link, job: JobRow, actor: Actor) -> Asked:
    will_run = plan.of_job(tx, job.id)
    return Asked(job, link.verb, actor.email, actor.customer_name, will_run, link.expires_at)
