"""What requests to run something have in common: arguments, secrets, keys, waiting for the end."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.limits import anonymous_requests
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest
from belvedere.base.errors import Forbidden, Invalid
from belvedere.jobs.api import request_size
from belvedere.jobs.api import wait as waiting
from belvedere.jobs.api.request_size import TakesFile
from belvedere.jobs.idempotency import Once
from belvedere.jobs.model import FINAL
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.store import find
from belvedere.rest import off_loop, run_arguments
from belvedere.rest.route import Reply
from belvedere.rest.run_arguments import RunArguments

# result.log in a record holds this much of the end.
LOG_IN_RECORD = 256 * 1024
QUERY = (
    ("task_arguments[]", "one argument; repeat it for more"),
    ("wait_result", "true: answer when the job is over, 202 when it takes longer"),
    ("wait_timeout", "seconds to wait, at most 300"),
)
# (tx, the organization as it was named) -> its id and name
Customer = Callable[[Any, str | None], tuple[str, str] | None]


async def given(request: AnyRequest) -> RunArguments:
    """Arguments and names out of body and query, of the organization that the credential opens."""
    kind = request.header(b"content-type") or ""
    found = await off_loop.read(
        len(request.raw), run_arguments.read, kind, request.raw, request.query
    )
    # The door has read path and query; only the body can name another.
    if found.customer and found.customer != request.customer:
        if request.customer is not None:
            raise Invalid("Two different organizations were named.", code="two_customers")
        if request.actor.customer_name.lower() not in ("", found.customer):
            raise Forbidden(
                "This credential does not open that organization.", code="other_customer"
            )
        request.customer = found.customer
    return found


async def by_secret(
    request: AnyRequest, customer: Customer, run: Callable[[Actor], Awaitable[Reply]]
) -> Reply:
    """Run as nobody in particular; `run` raises Forbidden where the secret does not fit what the
    body names. `admit` has checked what the address names."""
    limits, address = request.services.limits, request.actor.address
    proof, target = (
        request.services.keyring.digest(request.path["secret"]),
        anonymous_requests.target_of(request),
    )
    found = await request.services.db.read_inline(customer, request.customer)
    customer_id, name = found or ("", "")
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
    """The secret first; then how much of a body is read."""
    await request_size.admit(
        request, await anonymous_requests.by_secret(request, object, object_id), takes_file
    )


def replayed(is_replayed: bool) -> dict[str, str]:
    return {"Idempotency-Replayed": "true"} if is_replayed else {}


async def once(request: AnyRequest) -> Once | None:
    """The Idempotency-Key, with a digest of all that the request says; that of a large body is
    made in a thread."""
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    if not 1 <= len(key) <= 255:
        raise Invalid("Idempotency-Key has 1 to 255 characters.", code="invalid_key")
    said = await off_loop.read(len(request.raw), hashlib.sha256, request.raw)
    # The secret stays out: a key that came with the old one is good with the new one, too.
    for name in sorted(request.path.keys() - {"secret"}):
        said.update(f"\0{name}:{request.path[name]}".encode())
    for name in sorted(request.query):
        if name not in ("access_token", "wait_result", "wait_timeout"):
            said.update(f"\0{name}={request.query[name]}".encode())
    return Once(f"{request.route.method} {request.route.path}", key, said.hexdigest())


def patience(request: AnyRequest, given: RunArguments) -> float | None:
    """How long the caller waits for the result; None when it does not. Checked before the job is
    made: a refused request has made none."""
    asked = request.first("wait_result") or given.rest.get("wait_result")
    if asked is not True and str(asked).lower() not in ("true", "1"):
        return None
    return waiting.seconds(request.first("wait_timeout"))


async def wait(
    request: AnyRequest,
    actor: Actor,
    job_id: str,
    within_s: float,
    headers: dict[str, str],
    *,
    is_new: bool = False,
) -> Reply:
    # Whoever may start a job by its secret may also wait for that job's end.
    watcher = actor if actor.kind != "secret" else _watcher(actor)
    found = await waiting.until_over(request, watcher, job_id, within_s, is_new=is_new)
    await with_log(request, found, job_id)
    return Reply(found, 200 if found.lifecycle in FINAL else 202, headers)


def _watcher(actor: Actor) -> Actor:
    return msgspec.structs.replace(actor, level=Level.MANAGER)


async def with_log(request: AnyRequest, found: JobRecord, job_id: str) -> None:
    """Long logs live in the log store; the record carries their end."""
    result = found.result
    if not isinstance(result, dict) or result.get("log") or not result.get("log_bytes"):
        return
    fence = await request.services.db.read_inline(_fence, found.customer_id, job_id)
    tail = await request.services.logs.read(joblog.tail, fence, LOG_IN_RECORD)
    result["log"] = tail.decode("utf-8", "replace")


def _fence(tx: Any, customer_id: str, job_id: str) -> int:
    return find(tx, customer_id, job_id).fence
