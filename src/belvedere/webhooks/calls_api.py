"""Calling webhooks over HTTP, and the inbox of what came in."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from belvedere.access.actor import Actor, Level
from belvedere.access.customers import service
from belvedere.access.limits import anonymous_requests
from belvedere.access.limits.rate_limits import Kind, use_secret
from belvedere.base.errors import Forbidden, Invalid
from belvedere.db import Tx
from belvedere.jobs.idempotency import Once
from belvedere.rest import listing as filters
from belvedere.rest import off_loop, pagination
from belvedere.rest.route import Ask, Handler, Reply, Route
from belvedere.rest.searches import run_search
from belvedere.webhooks import records
from belvedere.webhooks.deliveries import payload, receive, replay, store
from belvedere.webhooks.deliveries.receive import Answered, Call
from belvedere.webhooks.model import Door
from belvedere.webhooks.records import DeliveryRecord, Triggered

# What callers call their own id of a delivery; the first that is there counts.
KEY_HEADERS = ("idempotency-key", "x-github-delivery", "x-gitlab-event-uuid")
MAX_CONTENT_TYPE = 256
PLAIN = "text/plain"


async def trigger(ask: Ask) -> Reply:
    return await _answer(ask, await _with_payload(_call(ask, ask.actor, Door.TOKEN)))


async def admit_secret(ask: Ask) -> None:
    _require_customer(ask)
    await anonymous_requests.by_secret(ask, "webhook", ask.path["id"])


async def trigger_by_secret(ask: Ask) -> Reply:
    return await _from_outside(ask, Door.SECRET, ask.path["secret"])


async def admit_signed(ask: Ask) -> None:
    """The signature is over the body; before it is read, there must be one."""
    _require_customer(ask)
    house, address, webhook_id = ask.house, ask.actor.address, ask.path["id"]
    house.limits.check(address, Kind.SECRET, webhook_id)
    use_secret(house.secret_uses, f"webhook:{webhook_id}")
    headers = _joined(ask.request.headers.items())
    actor = await house.db.glance(_caller, ask.customer, address)
    try:
        await house.db.glance(receive.admit_signed, actor.customer_id, webhook_id, headers)
    except Forbidden:
        customer = actor.customer_name
        house.limits.wrong(address, kind=Kind.SECRET, target=webhook_id, customer=customer)
        raise


async def trigger_signed(ask: Ask) -> Reply:
    return await _from_outside(ask, Door.SIGNATURE)


def _require_customer(ask: Ask) -> None:
    if ask.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")


async def _from_outside(ask: Ask, door: Door, secret: str = "") -> Reply:
    """Whoever knows the secret. The body is parsed only after that is proved."""
    house, address = ask.house, ask.actor.address
    target, proof = ask.path["id"], house.keys.digest(secret) if secret else ""
    actor = await house.db.glance(_caller, ask.customer, address)
    try:
        call = _call(ask, actor, door, secret)
        if door is Door.SIGNATURE:
            await house.db.glance(receive.authorize, call)
        reply = await _answer(ask, await _with_payload(call))
    except Forbidden:
        customer = actor.customer_name
        house.limits.wrong(address, kind=Kind.SECRET, target=target, proof=proof, customer=customer)
        raise
    if proof:
        house.limits.right(proof)
    return reply


async def _with_payload(call: Call) -> Call:
    call.payload = await off_loop.read(len(call.raw), payload.read, call.content_type, call.raw)
    return call


def _caller(tx: Tx, customer_name: str, address: str) -> Actor:
    """Nobody in particular, of the organization that was named; of none when it is not there."""
    found = service.by_name(tx, customer_name)
    if found is None or not found.enabled:
        return Actor("", "", Level.ANONYMOUS, "secret", address=address)
    return Actor(found.id, found.name, Level.ANONYMOUS, "secret", address=address)


def _call(ask: Ask, actor: Actor, door: Door, secret: str = "") -> Call:
    headers = ask.request.headers
    content_type = headers.get("content-type", "")[:MAX_CONTENT_TYPE]
    return Call(
        actor=actor,
        webhook_id=ask.path["id"],
        door=door,
        keys=ask.house.keys,
        raw=ask.raw,
        content_type=content_type,
        headers=_joined(headers.items()),
        redacted=store.redacted(headers.items()),
        payload=[],
        secret=secret,
        once=_once(ask),
    )


def _joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One that came twice is one list: then no signature in it fits, whichever was meant."""
    found: dict[str, str] = {}
    for name, value in headers:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _once(ask: Ask) -> Once | None:
    key = next((k for n in KEY_HEADERS if (k := ask.request.headers.get(n)) is not None), None)
    if key is None:
        return None
    if not 1 <= len(key) <= 255:
        raise Invalid("The id of a delivery has 1 to 255 characters.", code="invalid_key")
    return Once(receive.ROUTE, key, hashlib.sha256(ask.raw).hexdigest())


async def _answer(ask: Ask, call: Call, status: int = 200) -> Reply:
    answered: Answered = await ask.house.db.join(receive.trigger, call)
    if answered.challenge is not None:
        return Reply(answered.challenge, media_type=PLAIN)
    headers = {"Idempotency-Replayed": "true"} if answered.replayed else {}
    return Reply(Triggered("success", answered.jobs), status, headers)


# The inbox


async def list_deliveries(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.DELIVERIES)
    found, total = await run_search(ask, replay.listed, ask.actor, ask.path["id"], listing)
    return pagination.answer(ask, listing, [records.delivery(one) for one in found], total)


async def show_delivery(ask: Ask) -> DeliveryRecord:
    found, body = await ask.house.db.read(
        replay.show, ask.actor, ask.path["id"], ask.path["delivery_id"]
    )
    return records.delivery(found, body)


async def replay_delivery(ask: Ask) -> Reply:
    call = await ask.house.db.read(
        replay.again, ask.house.keys, ask.actor, ask.path["id"], ask.path["delivery_id"]
    )
    return await _answer(ask, call, 201)


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
    known: bool,
    admit: Callable[[Ask], Awaitable[None]] | None = None,
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
        known=known,
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
        "The same, authorized by the webhook's secret",
        True,
        admit_secret,
    ),
    _trigger_route(
        "/webhook/{id}/trigger/signed",
        "anonymous",
        trigger_signed,
        "The same, authorized by a signature that the secret made",
        False,
        admit_signed,
    ),
    Route(
        "GET",
        "/webhook/{id}/delivery",
        "admin",
        list_deliveries,
        "What came in, newest first, at most 100",
        answer=list[DeliveryRecord],
        known=False,
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/webhook/{id}/delivery/{delivery_id}",
        "admin",
        show_delivery,
        "One delivery with its body",
        answer=DeliveryRecord,
        known=False,
    ),
    Route(
        "POST",
        "/webhook/{id}/delivery/{delivery_id}/replay",
        "admin",
        replay_delivery,
        "Run a delivery once more",
        answer=Triggered,
        codes=_CODES[:-1],
        known=False,
    ),
)
