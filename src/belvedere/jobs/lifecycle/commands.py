"""Commands of admins: ordinary jobs without a task, one on each host that is meant.

They run the text below with the words of the command as its arguments: no shell reads them.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from belvedere.access import Level, audit, require
from belvedere.access.actor import Actor
from belvedere.base.clock import DAY, MINUTE, SECOND, Millis
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.files import store_content
from belvedere.hosts.choice import chosen
from belvedere.hosts.model import HostRow
from belvedere.jobs import events, idempotency, store
from belvedere.jobs.idempotency import Once
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import NewJob
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.tasks.model import TaskSpec, Type
from belvedere.tasks.store import Runnable

SOURCE = b'#!/bin/sh\nexec "$@"\n'
SHA256 = hashlib.sha256(SOURCE).hexdigest()
FILENAME = "exec.sh"
MAX_WORDS, MAX_WORD, MAX_TOTAL = 1_000, 128 * 1024, 1 << 20
# Of the command on all hosts: each has a job and a line in the audit log with all of its words.
MAX_WRITTEN = 64 << 20
# A host that comes back next week shall not be surprised.
EXPIRES: Millis = 10 * MINUTE
LONGEST: Millis = 7 * DAY


class ExecBody(msgspec.Struct, forbid_unknown_fields=True):
    """Words to run, and where: host names or ids, tags. Times in milliseconds."""

    command: list[str]
    hosts: list[str] = []
    tags: list[str] = []
    timeout: int | None = None
    # How long it may wait for its host.
    expires: int = EXPIRES


class Ran(msgspec.Struct):
    jobs: list[JobRow]
    replayed: bool = False


def keep_source(tx: Tx) -> None:
    """Agents fetch it by its hash; called once when a server starts."""
    assert store_content(tx, SOURCE) == SHA256


def run(tx: Tx, actor: Actor, given: ExecBody, key: Once | None) -> Ran:
    """All or none: a host that is unknown stops it everywhere."""
    require(actor, Level.ADMIN)
    before = None if key is None else idempotency.made_before(tx, _key(actor, key), key)
    if before is not None:
        found = [idempotency.job_of(tx, actor.customer_id, job_id) for job_id in before]
        return Ran(found, replayed=True)
    _check(given)
    hosts = chosen(tx, actor, given.hosts, given.tags)
    _check_size(given, len(hosts))
    jobs = [_job(actor, given, host, tx.now) for host in hosts]
    written = store.json_list(given.command)
    store.insert(tx, [(job, written, None) for job in jobs])
    events.tell(tx, "created", jobs)
    if key is not None:
        idempotency.remember(tx, [(_key(actor, key), key, [job.id for job in jobs])])
    tx.signals.update(host_ready(host.id) for host in hosts)
    _audited(tx, actor, given, hosts, jobs)
    return Ran(jobs)


def _key(actor: Actor, key: Once) -> idempotency.Key:
    return (actor.customer_id, actor.principal, key.route, key.key)


def _check(given: ExecBody) -> None:
    words, faults = given.command, []
    if not 0 < len(words) <= MAX_WORDS or not words[0]:
        faults.append(Fault("command", f"Give 1 to {MAX_WORDS} words, the program first."))
    if any("\0" in word or len(word.encode("utf-8", "replace")) > MAX_WORD for word in words):
        faults.append(Fault("command", f"A word has at most {MAX_WORD} bytes and no NUL."))
    if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
        faults.append(Fault("command", "A word holds characters that are no text."))
    if sum(map(len, words)) > MAX_TOTAL:
        faults.append(Fault("command", f"The words have at most {MAX_TOTAL} characters."))
    for name, value in (("timeout", given.timeout), ("expires", given.expires)):
        if value is not None and not SECOND <= value <= LONGEST:
            faults.append(Fault(name, f"Give {SECOND} to {LONGEST} milliseconds."))
    if faults:
        told = " ".join(fault.message for fault in faults)
        raise Invalid(told, code="invalid_body", faults=tuple(faults))


def _check_size(given: ExecBody, hosts: int) -> None:
    if hosts * sum(map(len, given.command)) > MAX_WRITTEN:
        message = f"The command is too long for {hosts} hosts; store it as a script and run that."
        raise Invalid(message, code="invalid_body", faults=(Fault("command", message),))


def _job(actor: Actor, given: ExecBody, host: HostRow, now: Millis) -> JobRow:
    name = f"exec {given.command[0]}"[:100]
    spec = TaskSpec(name, Type.SCRIPT, timeout=given.timeout, expires=given.expires)
    stand_in = Runnable(
        "", name, Type.SCRIPT, 1, 0, host.id, host.hostname, None, SHA256, FILENAME, spec
    )
    job = create.row(NewJob(actor, "", None), stand_in, Lifecycle.READY, now)
    job.task_id = job.task_version = None
    return job


def _audited(
    tx: Tx, actor: Actor, given: ExecBody, hosts: Sequence[HostRow], jobs: Sequence[JobRow]
) -> None:
    for host, job in zip(hosts, jobs, strict=True):
        told = {"command": given.command, "hostname": host.hostname, "job_id": job.id}
        audit.record(tx, actor, "host.exec", "host", host.id, None, told)
