"""A call of a webhook: whoever may is let in, everything attached starts, or nothing does."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import starter
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Fault, Forbidden, Refused
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import idempotency as once
from belvedere.jobs.idempotency import Key, Once
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
    Delivery,
    Door,
    Signature,
    StartedJob,
    WebhookRow,
)
from belvedere.webhooks.targets import TARGETS, Memory, Ready

ROUTE = "POST /webhook/{id}/trigger"
encode = msgspec.json.Encoder().encode


class Call(msgspec.Struct):
    """One request to trigger a webhook."""

    actor: Actor
    webhook_id: str
    door: Door
    keys: Keyring
    raw: bytes
    content_type: str
    # By their lower-case names, and as they may be kept.
    headers: dict[str, str]
    redacted: str
    # The elements of the body, or why it cannot be read: said only to those who are let in.
    payload: list[Any] | Refused
    secret: str = ""
    # The caller's own id of the delivery, with the digest of the body.
    once: Once | None = None
    replay_of: str | None = None

    @property
    def key(self) -> Key:
        """Whose delivery id it is: those of two callers may be the same."""
        assert self.once is not None
        who = self.actor.principal if self.door is Door.TOKEN else self.door
        return (self.actor.customer_id, f"webhook:{self.webhook_id}:{who}", ROUTE, self.once.key)


class Answered(msgspec.Struct):
    """What a call started, or had started before."""

    jobs: list[StartedJob]
    replayed: bool = False
    # What the caller wants to hear back; then nothing was started.
    challenge: str | None = None


@dataclass(slots=True)
class _Turn:
    """What is known and what is to be written, over all calls of one transaction."""

    hooks: dict[tuple[str, str], WebhookRow | None] = field(default_factory=dict)
    memory: Memory = field(default_factory=dict)
    ready: list[tuple[str, Ready]] = field(default_factory=list)
    made: dict[Key, tuple[Once, list[StartedJob]]] = field(default_factory=dict)
    deliveries: list[tuple[Delivery, str]] = field(default_factory=list)


def trigger(tx: Tx, calls: list[Call]) -> Sequence[Answered | Exception]:
    """Each all or nothing; a refused one harms no other, and is kept with its reason."""
    turn = _Turn()
    answers = [_answer(tx, call, turn) for call in calls]
    for kind, target in TARGETS.items():
        target.write(tx, [ready for of, ready in turn.ready if of == kind])
    once.remember(tx, [(key, o, [job.id for job in jobs]) for key, (o, jobs) in turn.made.items()])
    inbox.insert(tx, turn.deliveries)
    _tell(tx, [one for one, _ in turn.deliveries if one.verdict == ACCEPTED])
    return answers


def _tell(tx: Tx, accepted: Sequence[Delivery]) -> None:
    store.count(tx, Counter(one.webhook_id for one in accepted))
    told = [(one.customer_id, one.webhook_id, {"delivery_id": one.id}) for one in accepted]
    events.append_all(tx, "webhook.triggered", told)


def _answer(tx: Tx, call: Call, turn: _Turn) -> Answered | Refused:
    try:
        hook = _let_in(tx, call, turn)
    except Refused as refusal:
        return refusal
    attached = triggers.for_source(tx, hook.customer_id, "webhook", hook.id, TRIGGER)
    try:
        payload = _checked(tx, call, hook)
        answer = (
            _challenged(call, hook, payload)
            or _again(tx, call, turn)
            or _start(tx, call, payload, attached, turn)
        )
    except Refused as refusal:
        _keep(tx, call, turn, attached, refusal.code, [])
        return refusal
    _keep(tx, call, turn, attached, _verdict(answer), answer.jobs)
    return answer


def _verdict(answer: Answered) -> str:
    if answer.challenge is not None:
        return CHALLENGE
    return DUPLICATE if answer.replayed else ACCEPTED


def _let_in(tx: Tx, call: Call, turn: _Turn) -> WebhookRow:
    """The webhook, for who holds its secret, signs with it, or has a token of its organization."""
    key = (call.actor.customer_id, call.webhook_id)
    if call.door is Door.SECRET and not secret_keys.check(
        tx, call.keys, call.actor.customer_id, "webhook", call.webhook_id, call.secret
    ):
        raise _wrong_secret()
    if key not in turn.hooks:
        turn.hooks[key] = store.look_up(tx, *key)
    hook = turn.hooks[key]
    if hook is None:
        raise {Door.SECRET: _wrong_secret, Door.SIGNATURE: _wrong_signature}.get(
            call.door, store.missing
        )()
    if call.door is Door.SIGNATURE:
        _check_signature(tx, call, hook)
    return hook


def authorize(tx: Tx, call: Call) -> None:
    """The same check without a write, before the body is parsed."""
    _let_in(tx, call, _Turn())


def admit_signed(tx: Tx, customer_id: str, webhook_id: str, headers: dict[str, str]) -> None:
    """What can be checked of a signed call before its body is read."""
    hook = store.look_up(tx, customer_id, webhook_id)
    if hook is None or not signatures.is_claimed(hook.signature, headers):
        raise _wrong_signature()


def _checked(tx: Tx, call: Call, hook: WebhookRow) -> list[Any]:
    """The payload of a call that may start something now."""
    if not hook.enabled:
        raise Conflict("The webhook is disabled; enable it first.", code="webhook_disabled")
    if call.door is Door.SECRET and hook.signature != Signature.NONE:
        _check_signature(tx, call, hook)
    if isinstance(call.payload, Refused):
        raise call.payload
    if call.door in (Door.SECRET, Door.SIGNATURE):
        _name(call, hook, call.payload)
    return call.payload


def _check_signature(tx: Tx, call: Call, hook: WebhookRow) -> None:
    live = secret_keys.live(tx, call.keys, hook.customer_id, "webhook", hook.id)
    fit = signatures.judge(hook.signature, call.headers, call.raw, live, tx.now)
    if fit is signatures.Fit.TOO_OLD:
        # Only who holds the secret learns this: a clock is wrong, or somebody repeats a call.
        raise Forbidden(
            "The signature fits, but its moment is over five minutes from this server's clock.",
            code="signature_too_old",
        )
    if fit is signatures.Fit.WRONG:
        raise _wrong_signature()


def _name(call: Call, hook: WebhookRow, payload: list[Any]) -> None:
    """By the id that the sender signed, where it signs one: the rest of the body may change."""
    found = senders.delivery_id(hook.signature, call.headers, payload)
    if found is not None:
        call.once = Once(ROUTE, found, hashlib.sha256(found.encode()).hexdigest())


def _challenged(call: Call, hook: WebhookRow, payload: list[Any]) -> Answered | None:
    """A question whether this address is right; it starts nothing."""
    if call.door not in (Door.SECRET, Door.SIGNATURE):
        return None
    asked = senders.challenge(hook.signature, payload)
    return None if asked is None else Answered([], challenge=asked)


def _wrong_secret() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def _wrong_signature() -> Forbidden:
    return Forbidden("The signature is missing or does not fit.", code="wrong_signature")


def _again(tx: Tx, call: Call, turn: _Turn) -> Answered | None:
    """What this delivery started before, perhaps a moment ago in this same transaction."""
    if call.once is None:
        return None
    if (earlier := turn.made.get(call.key)) is not None:
        once.check_same(earlier[0].body_digest, call.once)
        return Answered(earlier[1], replayed=True)
    job_ids = once.made_before(tx, call.key, call.once)
    if job_ids is None:
        return None
    return Answered(_told_again(tx, job_ids), replayed=True)


def _told_again(tx: Tx, job_ids: list[str]) -> list[StartedJob]:
    rows = tx.rows(
        f"select id, task_id, workflow_id from jobs where id in {tx.dialect.in_texts}",
        msgspec.json.encode(job_ids).decode(),
    )
    found = {row[0]: StartedJob(*row) for row in rows}
    return [found.get(job_id) or StartedJob(job_id) for job_id in job_ids]


def _start(
    tx: Tx, call: Call, payload: list[Any], attached: Sequence[Trigger], turn: _Turn
) -> Answered:
    """Everything that is attached; where one cannot run, none does."""
    actor = starter(call.actor.customer_id, call.actor.customer_name, call.actor.address)
    ready: list[tuple[str, Ready]] = []
    for one in attached:
        try:
            found = TARGETS[one.target].prepare(tx, actor, one.target_id, payload, turn.memory)
        except Refused as refusal:
            raise _named(tx, refusal, one) from None
        ready.append((one.target, found))
    jobs = [found.started for _, found in ready]
    turn.ready += ready
    if call.once is not None:
        turn.made[call.key] = (call.once, jobs)
    return Answered(jobs)


def _named(tx: Tx, refusal: Refused, of: Trigger) -> Refused:
    """The same refusal, saying which of those attached it is about."""
    table = SOURCES[of.target]
    name = tx.value(f"select {table.name} from {table.table} where id = ?", of.target_id)
    told = f"The {of.target} {name!r} ({of.target_id}) cannot run: {refusal.message}"
    faults = [Fault(f"{of.target}s.{of.target_id}.{f.field}", f.message) for f in refusal.faults]
    return type(refusal)(told, code=refusal.code, faults=tuple(faults))


def _keep(
    tx: Tx,
    call: Call,
    turn: _Turn,
    attached: Sequence[Trigger],
    verdict: str,
    jobs: list[StartedJob],
) -> None:
    """Put it into the inbox, without what only the scripts may see."""
    actor = call.actor
    masked = {
        place
        for one in attached
        for place in TARGETS[one.target].masked(tx, actor.customer_id, one.target_id, turn.memory)
    }
    delivery = Delivery(
        id=new_id(),
        customer_id=actor.customer_id,
        webhook_id=call.webhook_id,
        at=tx.now,
        address=actor.address,
        door=call.door,
        username=actor.email or actor.username,
        verdict=verdict,
        delivery_key=None if call.once is None else call.once.key,
        replay_of=call.replay_of,
        jobs=encode(jobs).decode(),
        masked=encode(sorted(masked)).decode(),
        content_type=call.content_type,
        headers=call.redacted,
        size=len(call.raw),
    )
    turn.deliveries.append((delivery, inbox.text_of(call.raw)))
