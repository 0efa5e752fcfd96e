"""Giving work to an agent that asks for it: verbs over one transaction."""

from collections.abc import Sequence

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.jobs.attempts import live_attempts
from belvedere.jobs.lifecycle import claim, resync
from belvedere.jobs.lifecycle.finish import Reported, finish
from belvedere.jobs.lifecycle.orders import OldJob, cannot, job_of, update_of
from belvedere.legacy_agents import registration
from belvedere.monitors import watch_changes
from belvedere.protocol import Report
from belvedere.tasks import store as tasks

NEEDS_OWN_AGENT = "needs_own_agent"


def waits(tx: Tx, host_id: str) -> bool:
    """Whether `take` might find anything; a read is cheaper than an empty write."""
    ready = tx.value(
        "select 1 from jobs where host_id = ? and lifecycle = 'ready' and not_before_at <= ?"
        " limit 1",
        host_id,
        tx.now,
    )
    return ready is not None or _update_waits(tx, host_id)


def _update_waits(tx: Tx, host_id: str) -> bool:
    number = watch_changes.numbers(tx, [host_id]).get(host_id, 0)
    return registration.update_waits(tx, host_id, number)


def take(tx: Tx, host_id: str, base_url: str, keys: Keys) -> list[OldJob]:
    """An update of its configuration, and as many jobs as it has room for."""
    registration.check(tx, host_id)
    found = []
    if _update_waits(tx, host_id):
        found.append(update_of(registration.order_update(tx, host_id), host_id))
    return found + _claim(tx, host_id, base_url, keys)


def take_of_task(
    tx: Tx, actor: Actor, host_id: str, base_url: str, keys: Keys, task_id: str, most: int
) -> list[OldJob]:
    """Jobs of one task only, which must be this host's."""
    if tasks.find(tx, actor.customer_id, task_id).host_id != host_id:
        raise Forbidden("The task belongs to another host.", code="other_host")
    registration.check(tx, host_id)
    return _claim(tx, host_id, base_url, keys, task_id, most)


def _claim(
    tx: Tx,
    host_id: str,
    base_url: str,
    keys: Keys,
    task_id: str | None = None,
    most: int | None = None,
) -> list[OldJob]:
    session = tx.value("select session from hosts where id = ?", host_id)
    claimed = claim.claim(tx, host_id, session, task_id, most)
    refused = [
        Reported(host_id, item.job.fence, _refusal(reason))
        for item in claimed
        if (reason := cannot(item))
    ]
    finish(tx, refused)
    fences = {item.fence for item in refused}
    return [job_of(tx, item, base_url, keys) for item in claimed if item.job.fence not in fences]


def _refusal(reason: str) -> Report:
    message = f"The agent of this host is one of the original system: {reason}."
    return Report(ending="error", reason=NEEDS_OWN_AGENT, message=message, log="")


def give_back(tx: Tx, host_id: str, job_ids: Sequence[str]) -> None:
    """The agent hung up before a byte was sent: certain that it has none of them."""
    resync.never_sent(tx, host_id, job_ids)


def lose_all(tx: Tx, host_id: str, journal_id: str) -> None:
    """Another process speaks for the host. What the last one ran it will never report."""
    report = Report(ending="unknown", reason="agent_restarted")
    attempts = live_attempts(tx, host_id)
    finish(
        tx,
        [Reported(host_id, one.fence, report) for one in attempts if one.journal_id != journal_id],
    )
