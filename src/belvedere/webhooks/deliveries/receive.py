"""A call of a webhook: it is authorized, and starts everything that is attached, or nothing."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import trigger_actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Fault, Forbidden, Refused
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import idempotency
from belvedere.jobs.idempotency import IdempotencyKey, ScopedKey
from belvedere.triggers import store as triggers
from belvedere.triggers.sources import SOURCES
from belvedere.triggers.store import Trigger
from belvedere.webhooks import store
from belvedere.webhooks.deliveries import senders, signatures
from belvedere.webhooks.deliveries import store as inbox
from belvedere.webhooks.model import (
    ACCEPTED,
    CHALLENGE,
    DUPLICATE,
    TRIGGER,
    CallAuthorization,
    Delivery,
    Signature,
    StartedJob,
    WebhookRow,
)
from belvedere.webhooks.targets import TARGETS, PreparedTarget, TargetCache

ROUTE = "POST /webhook/{id}/trigger"
encode = msgspec.json.Encoder().encode


class Call(msgspec.Struct):
    """One request to trigger a webhook."""

    actor: Actor
    webhook_id: str
    authorization: CallAuthorization
    keys: Keyring
    raw: bytes
    content_type: str
    # By their lower-case names; `redacted` is JSON without credentials, to be stored.
    headers: dict[str, str]
    redacted: str
    # The elements of the body, or the error why it cannot be read, for authorized callers only.
    payload: list[Any] | Refused
    secret: str = ""
    # The caller's own id of the delivery, with the digest of the body.
    idempotency_key: IdempotencyKey | None = None
    replay_of: str | None = None

    @property
    def key(self) -> ScopedKey:
        """The delivery id with its caller: two callers may use the same id."""
        assert self.idempotency_key is not None
        caller = (
            self.actor.principal
            if self.authorization is CallAuthorization.TOKEN
            else self.authorization
        )
        return (
            self.actor.customer_id,
            f"webhook:{self.webhook_id}:{caller}",
            ROUTE,
            self.idempotency_key.key,
        )


class CallResult(msgspec.Struct):
    """What a call started, or had started before."""

    jobs: list[StartedJob]
    replayed: bool = False
    # The text that the caller expects as the response; then nothing was started.
    challenge: str | None = None


@dataclass(slots=True)
class _CallBatch:
    """What was read and what is to be written, for all calls of one transaction."""

    hooks: dict[tuple[str, str], WebhookRow | None] = field(default_factory=dict)
    cache: TargetCache = field(default_factory=dict)
    ready: list[tuple[str, PreparedTarget]] = field(default_factory=list)
    started: dict[ScopedKey, tuple[IdempotencyKey, list[StartedJob]]] = field(default_factory=dict)
    deliveries: list[tuple[Delivery, str]] = field(default_factory=list)


def trigger(tx: Tx, calls: list[Call]) -> Sequence[CallResult | Exception]:
    """Each call is all or nothing; a refused one does not affect the others, and is stored with the
    code of its error."""
    batch = _CallBatch()
    answers = [_answer(tx, call, batch) for call in calls]
    for kind, target in TARGETS.items():
        target.write(tx, [ready for target_kind, ready in batch.ready if target_kind == kind])
    idempotency.store_keys(
        tx, [(key, o, [job.id for job in jobs]) for key, (o, jobs) in batch.started.items()]
    )
    inbox.insert(tx, batch.deliveries)
    _record_accepted(
        tx, [delivery for delivery, _ in batch.deliveries if delivery.verdict == ACCEPTED]
    )
    return answers


def _record_accepted(tx: Tx, accepted: Sequence[Delivery]) -> None:
    store.add_calls(tx, Counter(delivery.webhook_id for delivery in accepted))
    details = [
        (delivery.customer_id, delivery.webhook_id, {"delivery_id": delivery.id})
        for delivery in accepted
    ]
    events.append_all(tx, "webhook.triggered", details)


def _answer(tx: Tx, call: Call, batch: _CallBatch) -> CallResult | Refused:
    try:
        hook = _authorize(tx, call, batch)
    except Refused as refusal:
        return refusal
    attached = triggers.for_source(tx, hook.customer_id, "webhook", hook.id, TRIGGER)
    try:
        payload = _require_payload(tx, call, hook)
        answer = (
            _challenge_result(call, hook, payload)
            or _find_replay(tx, call, batch)
            or _start(tx, call, hook, payload, attached, batch)
        )
    except Refused as refusal:
        _add_delivery(tx, call, batch, attached, refusal.code, [])
        return refusal
    _add_delivery(tx, call, batch, attached, _verdict(answer), answer.jobs)
    return answer


def _verdict(answer: CallResult) -> str:
    if answer.challenge is not None:
        return CHALLENGE
    return DUPLICATE if answer.replayed else ACCEPTED


def _authorize(tx: Tx, call: Call, batch: _CallBatch) -> WebhookRow:
    """The webhook, for a call with its secret, a signature, or a token of its organization."""
    key = (call.actor.customer_id, call.webhook_id)
    if call.authorization is CallAuthorization.SECRET and not secret_keys.check(
        tx, call.keys, call.actor.customer_id, "webhook", call.webhook_id, call.secret
    ):
        raise _wrong_secret()
    if key not in batch.hooks:
        batch.hooks[key] = store.look_up(tx, *key)
    hook = batch.hooks[key]
    if hook is None:
        raise {
            CallAuthorization.SECRET: _wrong_secret,
            CallAuthorization.SIGNATURE: _wrong_signature,
        }.get(call.authorization, store.not_found)()
    if call.authorization is CallAuthorization.SIGNATURE:
        _check_signature(tx, call, hook)
    return hook


def authorize(tx: Tx, call: Call) -> None:
    """The same check without a write, before the body is parsed."""
    _authorize(tx, call, _CallBatch())


def admit_signed(tx: Tx, customer_id: str, webhook_id: str, headers: dict[str, str]) -> None:
    """What can be checked of a signed call before its body is read."""
    hook = store.look_up(tx, customer_id, webhook_id)
    if hook is None or not signatures.has_signature(hook.signature, headers):
        raise _wrong_signature()


def _require_payload(tx: Tx, call: Call, hook: WebhookRow) -> list[Any]:
    """The payload of a call that may start something now."""
    if not hook.enabled:
        raise Conflict("The webhook is disabled; enable it first.", code="webhook_disabled")
    if call.authorization is CallAuthorization.SECRET and hook.signature != Signature.NONE:
        _check_signature(tx, call, hook)
    if isinstance(call.payload, Refused):
        raise call.payload
    if call.authorization in (CallAuthorization.SECRET, CallAuthorization.SIGNATURE):
        _use_sender_id(call, hook, call.payload)
    return call.payload


def _check_signature(tx: Tx, call: Call, hook: WebhookRow) -> None:
    live = secret_keys.list_valid(tx, call.keys, hook.customer_id, "webhook", hook.id)
    fit = signatures.verify(hook.signature, call.headers, call.raw, live, tx.now)
    if fit is signatures.SignatureCheck.EXPIRED:
        # Only a caller with the secret gets this: a clock is wrong, or a call is being repeated.
        raise Forbidden(
            "The signature is valid, but its time differs by more than five minutes from this"
            " server's clock.",
            code="signature_too_old",
        )
    if fit is signatures.SignatureCheck.INVALID:
        raise _wrong_signature()


def _use_sender_id(call: Call, hook: WebhookRow, payload: list[Any]) -> None:
    """Use the id that the sender signed as the delivery id, if it signs one: the rest of the body
    may change when it repeats the delivery."""
    delivery_id = senders.delivery_id(hook.signature, call.headers, payload)
    if delivery_id is not None:
        call.idempotency_key = IdempotencyKey(
            ROUTE, delivery_id, hashlib.sha256(delivery_id.encode()).hexdigest()
        )


def _challenge_result(call: Call, hook: WebhookRow, payload: list[Any]) -> CallResult | None:
    """The response to a request that verifies the address; it starts nothing."""
    if call.authorization not in (CallAuthorization.SECRET, CallAuthorization.SIGNATURE):
        return None
    challenge = senders.challenge(hook.signature, payload)
    return None if challenge is None else CallResult([], challenge=challenge)


def _wrong_secret() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def _wrong_signature() -> Forbidden:
    return Forbidden("The signature is missing or invalid.", code="wrong_signature")


def _find_replay(tx: Tx, call: Call, batch: _CallBatch) -> CallResult | None:
    """What this delivery started before, possibly in the same transaction."""
    if call.idempotency_key is None:
        return None
    if (earlier := batch.started.get(call.key)) is not None:
        idempotency.check_same_body(earlier[0].body_digest, call.idempotency_key)
        return CallResult(earlier[1], replayed=True)
    job_ids = idempotency.find_replay(tx, call.key, call.idempotency_key)
    if job_ids is None:
        return None
    return CallResult(_started_jobs(tx, job_ids), replayed=True)


def _started_jobs(tx: Tx, job_ids: list[str]) -> list[StartedJob]:
    rows = tx.rows(
        f"select id, task_id, workflow_id from jobs where id in {tx.dialect.in_texts}",
        msgspec.json.encode(job_ids).decode(),
    )
    jobs_by_id = {row[0]: StartedJob(*row) for row in rows}
    return [jobs_by_id.get(job_id) or StartedJob(job_id) for job_id in job_ids]


def _start(
    tx: Tx,
    call: Call,
    hook: WebhookRow,
    payload: list[Any],
    attached: Sequence[Trigger],
    batch: _CallBatch,
) -> CallResult:
    """Start everything that is attached; if one target cannot run, start nothing."""
    actor = trigger_actor(
        *(call.actor.customer_id, call.actor.customer_name, call.actor.address),
        source=f"webhook {hook.id} {hook.name}",
    )
    ready: list[tuple[str, PreparedTarget]] = []
    for trigger_row in attached:
        try:
            prepared = TARGETS[trigger_row.target].prepare(
                tx, actor, trigger_row.target_id, payload, batch.cache
            )
        except Refused as refusal:
            raise _name_target(tx, refusal, trigger_row) from None
        ready.append((trigger_row.target, prepared))
    jobs = [prepared.started for _, prepared in ready]
    batch.ready += ready
    if call.idempotency_key is not None:
        batch.started[call.key] = (call.idempotency_key, jobs)
    return CallResult(jobs)


def _name_target(tx: Tx, refusal: Refused, trigger_row: Trigger) -> Refused:
    """The same error, with the name of the task or workflow that it is about."""
    table = SOURCES[trigger_row.target]
    name = tx.value(f"select {table.name} from {table.table} where id = ?", trigger_row.target_id)
    message = (
        f"The {trigger_row.target} {name!r} ({trigger_row.target_id}) cannot run: {refusal.message}"
    )
    faults = [
        Fault(f"{trigger_row.target}s.{trigger_row.target_id}.{f.field}", f.message)
        for f in refusal.faults
    ]
    return type(refusal)(message, code=refusal.code, faults=tuple(faults))


def _add_delivery(
    tx: Tx,
    call: Call,
    batch: _CallBatch,
    attached: Sequence[Trigger],
    verdict: str,
    jobs: list[StartedJob],
) -> None:
    """Add the delivery to the inbox, with the places that have to be masked."""
    actor = call.actor
    masked = {
        place
        for trigger_row in attached
        for place in TARGETS[trigger_row.target].masked(
            tx, actor.customer_id, trigger_row.target_id, batch.cache
        )
    }
    delivery = Delivery(
        id=new_id(),
        customer_id=actor.customer_id,
        webhook_id=call.webhook_id,
        at=tx.now,
        address=actor.address,
        door=call.authorization,
        username=actor.email or actor.username,
        verdict=verdict,
        delivery_key=None if call.idempotency_key is None else call.idempotency_key.key,
        replay_of=call.replay_of,
        jobs=encode(jobs).decode(),
        masked=encode(sorted(masked)).decode(),
        content_type=call.content_type,
        headers=call.redacted,
        size=len(call.raw),
    )
    batch.deliveries.append((delivery, inbox.body_text(call.raw)))
