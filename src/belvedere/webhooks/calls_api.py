"""Calling webhooks over HTTP, and the list of their deliveries."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from belvedere.access import anonymous_requests
from belvedere.access.actor import Actor, Level
from belvedere.access.customers import service
from belvedere.access.limits.rate_limits import AttemptKind, count_secret_use
from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import read_list
from belvedere.base.errors import Forbidden, Invalid
from belvedere.db import Tx
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.request import off_loop
from belvedere.rest.route import Handler, Reply, Route
from belvedere.webhooks import records
from belvedere.webhooks.deliveries import payload, receive, replay, store
from belvedere.webhooks.deliveries.receive import Call, CallResult
from belvedere.webhooks.model import CallAuthorization
from belvedere.webhooks.records import DeliveryRecord, Triggered

# Headers in which callers send their own id of a delivery; the first that is present counts.
KEY_HEADERS = ("idempotency-key", "x-github-delivery", "x-gitlab-event-uuid")
MAX_CONTENT_TYPE = 256
PLAIN = "text/plain"


async def trigger(request: Request[None]) -> Reply:
    return await _answer(
        request, await _with_payload(_build_call(request, request.actor, CallAuthorization.TOKEN))
    )


async def admit_secret(request: AnyRequest) -> None:
    _require_customer(request)
    await anonymous_requests.by_secret(request, "webhook", request.path["id"])


async def trigger_by_secret(request: Request[None]) -> Reply:
    return await _trigger_anonymous(request, CallAuthorization.SECRET, request.path["secret"])


async def admit_signed(request: AnyRequest) -> None:
    """A signature covers the body, so before the body is read only its presence is checked."""
    customer_name = _require_customer(request)
    services, address, webhook_id = request.services, request.actor.address, request.path["id"]
    services.limits.check(address, AttemptKind.SECRET, webhook_id)
    count_secret_use(services.secret_uses, f"webhook:{webhook_id}")
    headers = _join_headers(request.starlette.headers.items())
    actor = await services.db.read_inline(_caller, customer_name, address)
    try:
        await services.db.read_inline(receive.admit_signed, actor.customer_id, webhook_id, headers)
    except Forbidden:
        customer = actor.customer_name
        services.limits.record_failure(
            address, kind=AttemptKind.SECRET, target=webhook_id, customer=customer
        )
        raise


async def trigger_signed(request: Request[None]) -> Reply:
    return await _trigger_anonymous(request, CallAuthorization.SIGNATURE)


def _require_customer(request: AnyRequest) -> str:
    if request.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")
    return request.customer


async def _trigger_anonymous(
    request: AnyRequest, authorization: CallAuthorization, secret: str = ""
) -> Reply:
    """A call that is authorized by the secret or a signature. The body is parsed only after that
    check."""
    services, address = request.services, request.actor.address
    target, proof = request.path["id"], services.keyring.digest(secret) if secret else ""
    actor = await services.db.read_inline(_caller, _require_customer(request), address)
    try:
        call = _build_call(request, actor, authorization, secret)
        if authorization is CallAuthorization.SIGNATURE:
            await services.db.read_inline(receive.authorize, call)
        reply = await _answer(request, await _with_payload(call))
    except Forbidden:
        customer = actor.customer_name
        services.limits.record_failure(
            address, kind=AttemptKind.SECRET, target=target, proof=proof, customer=customer
        )
        raise
    if proof:
        services.limits.record_success(proof)
    return reply


async def _with_payload(call: Call) -> Call:
    call.payload = await off_loop(len(call.raw), payload.read, call.content_type, call.raw)
    return call


def _caller(tx: Tx, customer_name: str, address: str) -> Actor:
    """An anonymous actor of the organization that was named; of none when it does not exist."""
    customer = service.by_name(tx, customer_name)
    if customer is None or not customer.enabled:
        return Actor("", "", Level.ANONYMOUS, "secret", address=address)
    return Actor(customer.id, customer.name, Level.ANONYMOUS, "secret", address=address)


def _build_call(
    request: AnyRequest, actor: Actor, authorization: CallAuthorization, secret: str = ""
) -> Call:
    headers = request.starlette.headers
    content_type = headers.get("content-type", "")[:MAX_CONTENT_TYPE]
    return Call(
        actor=actor,
        webhook_id=request.path["id"],
        authorization=authorization,
        keys=request.services.keyring,
        raw=request.raw,
        content_type=content_type,
        headers=_join_headers(headers.items()),
        redacted=store.redact_headers(headers.items()),
        payload=[],
        secret=secret,
        idempotency_key=_delivery_key(request),
    )


def _join_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A header that was sent twice is joined: then no signature in it is valid."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _delivery_key(request: AnyRequest) -> IdempotencyKey | None:
    key = next(
        (k for n in KEY_HEADERS if (k := request.starlette.headers.get(n)) is not None), None
    )
    if key is None:
        return None
    if not 1 <= len(key) <= 255:
        raise Invalid("The id of a delivery must have 1 to 255 characters.", code="invalid_key")
    return IdempotencyKey(receive.ROUTE, key, hashlib.sha256(request.raw).hexdigest())


async def _answer(request: AnyRequest, call: Call, status: int = 200) -> Reply:
    answered: CallResult = await request.services.db.write_batched(receive.trigger, call)
    if answered.challenge is not None:
        return Reply(answered.challenge, media_type=PLAIN)
    headers = {"Idempotency-Replayed": "true"} if answered.replayed else {}
    return Reply(Triggered("success", answered.jobs), status, headers)


# The inbox


async def list_deliveries(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.DELIVERIES)
    page = await read_list(request, listing, replay.read_page, request.actor, request.path["id"])
    deliveries = [records.delivery(delivery) for delivery in page.records]
    return pagination.answer_page(request, listing, page, records=deliveries)


async def show_delivery(request: Request[None]) -> DeliveryRecord:
    delivery, body = await request.services.db.read(
        replay.show, request.actor, request.path["id"], request.path["delivery_id"]
    )
    return await off_loop(len(body), records.delivery, delivery, body)


async def replay_delivery(request: Request[None]) -> Reply:
    call = await request.services.db.read(
        replay.replay_call,
        request.services.keyring,
        request.actor,
        request.path["id"],
        request.path["delivery_id"],
    )
    return await _answer(request, call, 201)


_CODES = (
    "storage_quota",
    "webhook_disabled",
    "task_disabled",
    "host_gone",
    "no_approver",
    "idempotency_key_reused",
)


def _trigger_route(
    path: str,
    level: str,
    handler: Handler,
    summary: str,
    from_interface: bool,
    admit: Callable[[AnyRequest], Awaitable[None]] | None = None,
) -> Route:
    return Route(
        "POST",
        path,
        level,
        handler,
        summary,
        body=Any,
        raw_body=True,
        answer=Triggered,
        also=(PLAIN,) if level == "anonymous" else (),
        codes=_CODES,
        from_interface=from_interface,
        needs_customer=level == "anonymous",
        admit=admit,
    )


ROUTES: tuple[Route, ...] = (
    _trigger_route(
        "/webhook/{id}/trigger",
        "admin",
        trigger,
        "Run every task and workflow that is attached",
        True,
    ),
    _trigger_route(
        "/webhook/{id}/trigger/secret/{secret}",
        "anonymous",
        trigger_by_secret,
        "Run what is attached, authorized by the webhook's secret",
        True,
        admit_secret,
    ),
    _trigger_route(
        "/webhook/{id}/trigger/signed",
        "anonymous",
        trigger_signed,
        "Run what is attached, authorized by a signature with the webhook's secret",
        False,
        admit_signed,
    ),
    Route(
        "GET",
        "/webhook/{id}/delivery",
        "admin",
        list_deliveries,
        "List deliveries, newest first, at most 100",
        answer=list[DeliveryRecord],
        from_interface=False,
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/webhook/{id}/delivery/{delivery_id}",
        "admin",
        show_delivery,
        "Show a delivery with its body",
        answer=DeliveryRecord,
        from_interface=False,
    ),
    Route(
        "POST",
        "/webhook/{id}/delivery/{delivery_id}/replay",
        "admin",
        replay_delivery,
        "Replay a delivery",
        answer=Triggered,
        codes=_CODES[:-1],
        from_interface=False,
    ),
)
