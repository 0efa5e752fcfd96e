"""Shared parts of run requests: arguments, secrets, idempotency keys, waiting for the end."""

import hashlib
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import msgspec

from belvedere.access import anonymous_requests
from belvedere.access.actor import Actor, Level
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest
from belvedere.base.errors import Fault, Forbidden, Invalid
from belvedere.base.text import trace_context
from belvedere.db import Tx
from belvedere.jobs.api import request_size, wait
from belvedere.jobs.api.request_size import TakesFile
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle.create import CreatedJob
from belvedere.jobs.model import FINAL
from belvedere.jobs.output import log_store
from belvedere.jobs.queries import result_form
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.store import find
from belvedere.rest import run_arguments, unknown_fields
from belvedere.rest.request import off_loop
from belvedere.rest.route import Reply
from belvedere.rest.run_arguments import RunArguments
from belvedere.rest.unknown_fields import UnknownField

# Bytes of the log's end in result.log of a record.
LOG_IN_RECORD = 256 * 1024
QUERY = (
    ("task_arguments[]", "one argument; repeat it for more"),
    ("assignee[]", "a member to whom the job is assigned; repeat it for more"),
    ("wait_result", "true: respond when the job has ended, 202 if it takes longer"),
    ("wait_timeout", "seconds to wait, at most 300"),
    *((name, f"with wait_result: {about}") for name, about in result_form.FORM_QUERY),
)
# Parameters that do not change what is started.
NOT_IN_DIGEST = ("access_token", "wait_result", "wait_timeout", *result_form.OPTIONS)
# (tx, the organization as it was named) -> its id and name
Customer = Callable[[Any, str | None], tuple[str, str] | None]


def traceparent(request: AnyRequest) -> str | None:
    """The trace context of the request, stored with its job."""
    return trace_context.read_header(request.header(trace_context.HEADER))


async def read_arguments(request: AnyRequest) -> RunArguments:
    """Arguments and names from body and query; the organization must be that of the credential."""
    kind = request.header(b"content-type") or ""
    arguments = await off_loop(
        len(request.raw), run_arguments.read, kind, request.raw, request.query
    )
    # Path and query are checked already; only the body can name another organization.
    if arguments.customer and arguments.customer != request.customer:
        if request.customer is not None:
            raise Invalid(
                "The request names two different organizations; name one.", code="two_customers"
            )
        if request.actor.customer_name.lower() not in ("", arguments.customer):
            raise Forbidden(
                "This credential has no access to that organization.", code="other_customer"
            )
        request.customer = arguments.customer
    return arguments


async def run_by_secret(
    request: AnyRequest, customer: Customer, run: Callable[[Actor], Awaitable[Reply]]
) -> Reply:
    """Run without a user; `run` raises Forbidden if the secret is not that of the task in the body.
    `admit` has checked the task in the path."""
    limits, address = request.services.limits, request.actor.address
    proof, target = (
        request.services.keyring.digest(request.path["secret"]),
        anonymous_requests.target_of(request),
    )
    row = await request.services.db.read_inline(customer, request.customer)
    customer_id, name = row or ("", "")
    try:
        reply = await run(Actor(customer_id, name, Level.ANONYMOUS, "secret", address=address))
    except Forbidden:
        limits.record_failure(
            address, kind=AttemptKind.SECRET, target=target, proof=proof, customer=name
        )
        raise
    limits.record_success(proof)
    return reply


async def admit(
    request: AnyRequest, object: str, object_id: str | None, takes_file: TakesFile
) -> None:
    """Check the secret first, then decide how large a body is read."""
    await request_size.admit(
        request, await anonymous_requests.by_secret(request, object, object_id), takes_file
    )


def note_unknown_fields(
    request: AnyRequest, arguments: RunArguments, names: Collection[str]
) -> None:
    """Name the fields of the body that have no effect, or refuse them if the client wants that."""
    unknown = [
        UnknownField(name, False, (*names, *run_arguments.OWN_NAMES[:3]))
        for name in arguments.rest
        if name not in names and name not in unknown_fields.ALWAYS_ALLOWED
    ]
    if unknown and request.is_strict:
        unknown_fields.refuse(unknown)
    request.ignored += [field.path for field in unknown]


def assignee_names(secret: str | None) -> tuple[str, ...]:
    """A caller with only a secret key cannot choose who decides an approval."""
    return run_arguments.ASSIGNEE_NAMES if secret is None else ()


def assignees(arguments: RunArguments) -> list[str]:
    names = arguments.assignee
    if names is None:
        return []
    if not isinstance(names, list) or not names or not all(type(name) is str for name in names):
        message = "assignee must be a list of members: e-mail addresses, user names or ids."
        raise Invalid(message, code="invalid_assignee", faults=(Fault("assignee", message),))
    return names


def replay_headers(is_replayed: bool) -> dict[str, str]:
    return {"Idempotency-Replayed": "true"} if is_replayed else {}


async def idempotency_key(request: AnyRequest) -> IdempotencyKey | None:
    """The Idempotency-Key, with a digest of the request; a large body is hashed in a thread."""
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    if not 1 <= len(key) <= 255:
        raise Invalid("Idempotency-Key must have 1 to 255 characters.", code="invalid_key")
    digest = await off_loop(len(request.raw), hashlib.sha256, request.raw)
    # Without the secret: a key stays valid when the secret is rotated.
    for name in sorted(request.path.keys() - {"secret"}):
        digest.update(f"\0{name}:{request.path[name]}".encode())
    for name in sorted(request.query):
        if name not in NOT_IN_DIGEST:
            digest.update(f"\0{name}={request.query[name]}".encode())
    return IdempotencyKey(f"{request.route.method} {request.route.path}", key, digest.hexdigest())


def release_body(request: AnyRequest) -> None:
    """The body has been parsed and hashed; with a file in it, it is large."""
    request.raw = b""


def wait_seconds(request: AnyRequest, arguments: RunArguments) -> float | None:
    """How long the caller waits for the result; None if it does not. Checked before the job is
    created, so that a rejected request creates none."""
    value = request.first("wait_result") or arguments.rest.get("wait_result")
    if value is not True and str(value).lower() not in ("true", "1"):
        return None
    result_form.check(request.query)
    return wait.parse_seconds(request.first("wait_timeout"))


async def wait_for_end(
    request: AnyRequest,
    actor: Actor,
    job_id: str,
    within_s: float,
    headers: dict[str, str],
    created: CreatedJob | None = None,
) -> Reply:
    # A caller that may start a job by its secret may also wait for its end.
    watcher = actor if actor.kind != "secret" else _watcher(actor)
    record = await wait.until_over(request, watcher, job_id, within_s, created)
    await add_log(request, record, job_id)
    if record.lifecycle not in FINAL:
        return Reply(add_secret(request, actor, record), 202, headers)
    if result_form.has_form(request.query):
        return Reply(result_form.in_form(request.query, record), 200, headers)
    return Reply(add_secret(request, actor, record), 200, headers)


def add_secret(request: AnyRequest, actor: Actor, record: JobRecord) -> JobRecord:
    """A caller without an account gets the key that reads the result of this job."""
    if actor.kind == "secret":
        record.secret = result_form.job_secret(request.services.keyring, record.id)
    return record


def _watcher(actor: Actor) -> Actor:
    return msgspec.structs.replace(actor, level=Level.MANAGER)


async def add_log(request: AnyRequest, record: JobRecord, job_id: str) -> None:
    """Long logs are in the log store; the record contains their end."""
    result = record.result
    if not isinstance(result, dict) or result.get("log") or not result.get("log_bytes"):
        return
    fence = await request.services.db.read_inline(_fence, record.customer_id, job_id)
    tail = await request.services.logs.read(log_store.tail, fence, LOG_IN_RECORD)
    text = tail or log_store.gap_text(0, result["log_bytes"])
    result["log"] = text.decode("utf-8", "replace")


def _fence(tx: Tx, customer_id: str, job_id: str) -> int:
    return find(tx, customer_id, job_id).fence
