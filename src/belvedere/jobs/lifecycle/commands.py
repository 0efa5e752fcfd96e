"""Commands of admins: ordinary jobs without a task, one per host.

They run the script below with the words of the command as arguments; no shell interprets them.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from belvedere.access import Level, audit, require
from belvedere.access.actor import Actor
from belvedere.base.clock import DAY, MINUTE, SECOND, Millis, range_text
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.files import store_content
from belvedere.hosts.choice import select_hosts
from belvedere.hosts.model import HostRow
from belvedere.jobs import events, idempotency, store
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import JobRequest
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.tasks.model import TaskSpec, Type
from belvedere.tasks.store import Runnable

SOURCE = b'#!/bin/sh\nexec "$@"\n'
SHA256 = hashlib.sha256(SOURCE).hexdigest()
FILENAME = "exec.sh"
MAX_WORDS, MAX_WORD, MAX_TOTAL = 1_000, 128 * 1024, 1 << 20
# Size of the command times the number of hosts: each host has a job and an audit entry with it.
MAX_WRITTEN = 64 << 20
# A host that reconnects next week must not run an old command.
EXPIRES: Millis = 10 * MINUTE
MAX_DURATION: Millis = 7 * DAY


class ExecBody(msgspec.Struct, forbid_unknown_fields=True):
    """The words of the command, and its hosts: names, ids or tags. Times in milliseconds."""

    command: list[str]
    hosts: list[str] = []
    tags: list[str] = []
    timeout: int | None = None
    # How long a job may wait for its host.
    expires: int = EXPIRES


class ExecResult(msgspec.Struct):
    jobs: list[JobRow]
    replayed: bool = False


def store_source(tx: Tx) -> None:
    """Agents fetch it by its hash; called once when a server starts."""
    assert store_content(tx, SOURCE) == SHA256


def run(tx: Tx, actor: Actor, body: ExecBody, key: IdempotencyKey | None) -> ExecResult:
    """All hosts or none: an unknown host rejects the request."""
    require(actor, Level.ADMIN)
    replayed_ids = (
        None if key is None else idempotency.find_replay(tx, _scoped_key(actor, key), key)
    )
    if replayed_ids is not None:
        jobs_before = [
            idempotency.replayed_job(tx, actor.customer_id, job_id) for job_id in replayed_ids
        ]
        return ExecResult(jobs_before, replayed=True)
    _validate(body)
    hosts = select_hosts(tx, actor, body.hosts, body.tags)
    _check_size(body, len(hosts))
    jobs = [_job_row(actor, body, host, tx.now) for host in hosts]
    arguments = store.json_array(body.command)
    store.insert(tx, [(job, arguments, None) for job in jobs])
    events.publish(tx, "created", jobs)
    if key is not None:
        idempotency.store_keys(tx, [(_scoped_key(actor, key), key, [job.id for job in jobs])])
    tx.signals.update(host_ready(host.id) for host in hosts)
    _audit(tx, actor, body, hosts, jobs)
    return ExecResult(jobs)


def _scoped_key(actor: Actor, key: IdempotencyKey) -> idempotency.ScopedKey:
    return (actor.customer_id, actor.principal, key.route, key.key)


def _validate(body: ExecBody) -> None:
    words, faults = body.command, []
    if not 0 < len(words) <= MAX_WORDS or not words[0]:
        faults.append(Fault("command", f"Pass 1 to {MAX_WORDS} words, the program first."))
    if any("\0" in word or len(word.encode("utf-8", "replace")) > MAX_WORD for word in words):
        faults.append(Fault("command", f"A word has at most {MAX_WORD} bytes and no NUL."))
    if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
        faults.append(Fault("command", "A word contains invalid characters (unpaired surrogates)."))
    if sum(map(len, words)) > MAX_TOTAL:
        faults.append(Fault("command", f"The words have at most {MAX_TOTAL} characters."))
    for name, value in (("timeout", body.timeout), ("expires", body.expires)):
        if value is not None and not SECOND <= value <= MAX_DURATION:
            faults.append(Fault(name, f"Must be {range_text(SECOND, MAX_DURATION)}."))
    if faults:
        message = " ".join(fault.message for fault in faults)
        raise Invalid(message, code="invalid_body", faults=tuple(faults))


def _check_size(body: ExecBody, hosts: int) -> None:
    if hosts * sum(map(len, body.command)) > MAX_WRITTEN:
        message = f"The command is too long for {hosts} hosts. Store it as a script and run that."
        raise Invalid(message, code="invalid_body", faults=(Fault("command", message),))


def _job_row(actor: Actor, body: ExecBody, host: HostRow, now: Millis) -> JobRow:
    name = f"exec {body.command[0]}"[:100]
    spec = TaskSpec(name, Type.SCRIPT, timeout=body.timeout, expires=body.expires)
    task = Runnable(
        "", name, Type.SCRIPT, 1, 0, host.id, host.hostname, None, SHA256, FILENAME, spec
    )
    job = create.job_row(JobRequest(actor, "", None), task, Lifecycle.READY, now)
    job.task_id = job.task_version = None
    return job


def _audit(
    tx: Tx, actor: Actor, body: ExecBody, hosts: Sequence[HostRow], jobs: Sequence[JobRow]
) -> None:
    for host, job in zip(hosts, jobs, strict=True):
        fields = {"command": body.command, "hostname": host.hostname, "job_id": job.id}
        audit.record(tx, actor, "host.exec", "host", host.id, None, fields)
