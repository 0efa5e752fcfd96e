"""Operations on webhooks: create, change, delete, list, read and rotate their secret."""

import re
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Fault, Invalid, NotFound, Stale
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing
from belvedere.triggers import store as triggers
from belvedere.triggers.store import Trigger
from belvedere.webhooks import store
from belvedere.webhooks.model import TRIGGER, Signature, WebhookRow
from belvedere.webhooks.targets import TARGETS

MAX_ATTACHED = 100
_SECRET = re.compile(r"[!-~]{16,255}")


class WebhookBody(msgspec.Struct):
    """A webhook, or any part of it; null is the same as a missing field."""

    name: str | None = None
    enable: bool | None = None
    tasks: list[str] | None = None
    workflows: list[str] | None = None
    signature: str | None = None


class WebhookView(msgspec.Struct):
    """A webhook with the ids of what it starts, by kind."""

    row: WebhookRow
    attached: dict[str, list[str]]


def create(tx: Tx, keys: Keyring, actor: Actor, body: WebhookBody) -> WebhookView:
    require(actor, Level.ADMIN)
    row = WebhookRow(
        id=new_id(),
        customer_id=actor.customer_id,
        name="",
        enabled=1,
        signature=Signature.NONE.value,
        trigger_count=0,
        triggered_at=None,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _apply(row, body, needs_name=True)
    attached = _merge_targets(tx, actor, body, {})
    store.insert(tx, row)
    secret_keys.create(tx, keys, actor.customer_id, "webhook", row.id)
    _attach(tx, row, attached)
    view = WebhookView(row, attached)
    audit.record(tx, actor, "webhook.create", "webhook", row.id, None, _audit_fields(view))
    events.append(tx, row.customer_id, "webhook.created", row.id, _event(row))
    return view


def change(
    tx: Tx,
    actor: Actor,
    webhook_id: str,
    body: WebhookBody,
    if_match: int | None = None,
    *,
    needs_name: bool = False,
) -> WebhookView:
    """Change the fields that the body contains."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, webhook_id, lock=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The webhook is now at version {row.version}; reload it and try again.")
    before = load_views(tx, actor.customer_id, [row])[0]
    audited = _audit_fields(before)
    _apply(row, body, needs_name=needs_name)
    after = WebhookView(row, _merge_targets(tx, actor, body, before.attached))
    if _audit_fields(after) == audited:
        return after
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    if after.attached != before.attached:
        _attach(tx, row, after.attached)
    audit.record(tx, actor, "webhook.change", "webhook", row.id, audited, _audit_fields(after))
    events.append(tx, row.customer_id, "webhook.changed", row.id, _event(row))
    return after


def delete(tx: Tx, actor: Actor, webhook_id: str) -> WebhookView:
    """Delete it with its deliveries; its secret becomes invalid."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, webhook_id, lock=True)
    last = load_views(tx, actor.customer_id, [row])[0]
    store.delete(tx, row)
    secret_keys.delete(tx, actor.customer_id, "webhook", webhook_id)
    triggers.delete(tx, actor.customer_id, source=("webhook", webhook_id))
    audit.record(tx, actor, "webhook.delete", "webhook", webhook_id, _audit_fields(last), None)
    events.append(tx, row.customer_id, "webhook.deleted", row.id, _event(row))
    return last


def show(tx: Tx, actor: Actor, webhook_id: str) -> WebhookView:
    require(actor, Level.VIEWER)
    return load_views(tx, actor.customer_id, [store.find(tx, actor.customer_id, webhook_id)])[0]


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WebhookView], int | None]:
    """A page, and the total if the request asks for it."""
    require(actor, Level.VIEWER)
    total = store.count_rows(tx, actor.customer_id, listing) if listing.count else None
    rows = store.select_page(tx, actor.customer_id, listing)
    return load_views(tx, actor.customer_id, rows), total


def reveal(tx: Tx, keys: Keyring, actor: Actor, webhook_id: str) -> str:
    """The secret in clear; every access is audited."""
    store.find(tx, actor.customer_id, webhook_id)
    return secret_keys.reveal(tx, keys, actor, "webhook", webhook_id)


def rotate(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    webhook_id: str,
    overlap_s: int = 0,
    new_secret: str | None = None,
) -> str:
    """Replace the secret by `new_secret` or a random one. The old one is valid for `overlap_s`
    more."""
    row = store.find(tx, actor.customer_id, webhook_id)
    if new_secret is not None:
        _check_secret(row, new_secret)
    return secret_keys.rotate(tx, keys, actor, "webhook", webhook_id, overlap_s, new_secret)


def _check_secret(row: WebhookRow, secret: str) -> None:
    if row.signature == Signature.NONE:
        # It would be part of the URL, where only a random secret is strong enough.
        raise text_fields.invalid_field(
            "secret", "Only a webhook with a signature can have a secret of your choice."
        )
    if not _SECRET.fullmatch(secret):
        raise text_fields.invalid_field(
            "secret", "Use 16 to 255 letters, digits and symbols without spaces."
        )


def load_views(tx: Tx, customer_id: str, rows: list[WebhookRow]) -> list[WebhookView]:
    """The views of several rows, in their order."""
    started = triggers.for_sources(tx, customer_id, "webhook", [row.id for row in rows])
    return [WebhookView(row, _by_kind(started[row.id])) for row in rows]


def _by_kind(attached: list[Trigger]) -> dict[str, list[str]]:
    by_kind: dict[str, list[str]] = {}
    for trigger in sorted(attached, key=lambda trigger: trigger.target_id):
        by_kind.setdefault(trigger.target, []).append(trigger.target_id)
    return by_kind


def _apply(row: WebhookRow, body: WebhookBody, *, needs_name: bool) -> None:
    if body.name is None and needs_name:
        raise text_fields.invalid_field("name", "This is required.")
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.enable is not None:
        row.enabled = int(body.enable)
    if body.signature is not None:
        if body.signature not in set(Signature):
            raise text_fields.invalid_field("signature", f"Must be one of {', '.join(Signature)}.")
        row.signature = Signature(body.signature).value


def _merge_targets(
    tx: Tx, actor: Actor, body: WebhookBody, before: dict[str, list[str]]
) -> dict[str, list[str]]:
    """The ids of what the webhook starts: each kind that the body names, the other unchanged."""
    after = dict(before)
    faults: list[Fault] = []
    for kind, named_ids in (("task", body.tasks), ("workflow", body.workflows)):
        if named_ids is not None:
            target_ids = list(dict.fromkeys(named_ids))
            faults += _target_faults(tx, actor, kind, target_ids, before.get(kind, []))
            after[kind] = sorted(target_ids)
    if faults:
        raise Invalid(faults[0].message, code="invalid_body", faults=tuple(faults))
    return {kind: ids for kind, ids in after.items() if ids}


def _target_faults(
    tx: Tx, actor: Actor, kind: str, target_ids: list[str], current_ids: list[str]
) -> list[Fault]:
    if len(target_ids) > MAX_ATTACHED:
        return [Fault(f"{kind}s", f"Attach at most {MAX_ATTACHED}.")]
    return [
        Fault(f"{kind}s[{n}]", f"There is no such {kind}.")
        for n, target_id in enumerate(target_ids)
        if target_id not in current_ids and not _target_exists(tx, actor, kind, target_id)
    ]


def _target_exists(tx: Tx, actor: Actor, kind: str, target_id: str) -> bool:
    if kind not in TARGETS or not is_id(target_id):
        return False
    try:
        # Locked: a target that is being deleted must not be attached.
        TARGETS[kind].find(tx, actor.customer_id, target_id, lock=True)
    except NotFound:
        return False
    return True


def _attach(tx: Tx, row: WebhookRow, attached: dict[str, list[str]]) -> None:
    triggers.replace_for_source(
        tx,
        row.customer_id,
        "webhook",
        row.id,
        [
            Trigger("webhook", row.id, TRIGGER, kind, target_id)
            for kind, target_ids in attached.items()
            for target_id in target_ids
        ],
    )


def _event(row: WebhookRow) -> dict[str, Any]:
    return {"name": row.name, "enable": bool(row.enabled), "version": row.version}


def _audit_fields(view: WebhookView) -> dict[str, Any]:
    row = view.row
    return {
        "name": row.name,
        "enable": bool(row.enabled),
        "signature": row.signature,
        "tasks": view.attached.get("task", []),
        "workflows": view.attached.get("workflow", []),
    }
