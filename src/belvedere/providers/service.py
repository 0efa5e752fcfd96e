"""Operations on providers. Only owners change them: a provider decides who signs in as whom."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require, require_person
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service as customers
from belvedere.access.people import memberships
from belvedere.access.signin import sessions
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.base.text import request_masking
from belvedere.base.text.credentials import MASK
from belvedere.db import Tx
from belvedere.providers import model, store
from belvedere.providers.model import (
    DEFAULT_SCOPES,
    MAX_ENTRIES,
    Endpoints,
    ProviderBody,
    ProviderRow,
)
from belvedere.rest import text_fields


def list_all(tx: Tx, actor: Actor) -> list[ProviderRow]:
    require(actor, Level.ADMIN)
    return store.for_customer(tx, actor.customer_id)


def show(tx: Tx, actor: Actor, provider_id: str) -> ProviderRow:
    require(actor, Level.ADMIN)
    return store.find(tx, actor.customer_id, provider_id)


def find_with_customer(tx: Tx, provider_id: str) -> tuple[ProviderRow, str]:
    """An enabled provider and the name of its organization, for someone who is not signed in."""
    row = store.find_enabled(tx, provider_id)
    return row, customers.find(tx, row.customer_id).name


def create(
    tx: Tx, keys: Keyring, actor: Actor, body: ProviderBody, endpoints: Endpoints
) -> ProviderRow:
    _check_owner(tx, actor)
    if len(store.for_customer(tx, actor.customer_id)) >= MAX_ENTRIES:
        raise Conflict(
            f"This organization already has {MAX_ENTRIES} providers, the maximum.",
            code="too_many_providers",
        )
    row = ProviderRow(
        *(new_id(), actor.customer_id, "", "", "", "", _json(list(DEFAULT_SCOPES)), "[]"),
        *("", "", "{}", 1, "", 1, tx.now, tx.now),
    )
    _fill(keys, row, _without_mask(body, row), endpoints)
    store.insert(tx, row)
    _record_change(tx, actor, "create", "created", row, None, _audit_fields(row))
    return row


def change(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    provider_id: str,
    body: ProviderBody,
    endpoints: Endpoints,
    if_match: int | None = None,
) -> ProviderRow:
    """A new issuer has other subjects: links to members are deleted and sessions end."""
    _check_owner(tx, actor)
    row = store.find(tx, actor.customer_id, provider_id)
    if if_match is not None and if_match != row.version:
        raise Stale("The provider has been changed since you read it. Reload it and try again.")
    before, issuer = _audit_fields(row), row.issuer
    body = _without_mask(body, row)
    _fill(keys, row, body, endpoints)
    if row.issuer != issuer and row.box and body.client_secret is None:
        raise text_fields.invalid_field(
            "client_secret",
            f"The stored one was entered for {issuer}; enter that of {row.issuer}.",
        )
    row.version, row.updated_at = row.version + 1, tx.now
    if row.issuer != issuer:
        store.delete_identities(tx, row.id)
    if row.issuer != issuer or not row.enabled:
        _require_other_sign_in(tx, row)
        sessions.revoke_for_provider(tx, row.id)
    store.save(tx, row)
    _record_change(tx, actor, "change", "changed", row, before, _audit_fields(row))
    return row


def delete(tx: Tx, actor: Actor, provider_id: str) -> ProviderRow:
    """Its sessions end; these members need a password or another provider."""
    _check_owner(tx, actor)
    row = store.find(tx, actor.customer_id, provider_id)
    _require_other_sign_in(tx, row)
    sessions.revoke_for_provider(tx, row.id)
    store.delete(tx, row)
    _record_change(tx, actor, "delete", "deleted", row, _audit_fields(row), None)
    return row


def sign_in_methods(tx: Tx, customer_name: str | None) -> tuple[bool, list[ProviderRow]]:
    """For the sign-in page: whether the named organization allows passwords, and its enabled
    providers; without a name, of the only organization."""
    if customer_name is not None:
        customer = customers.by_name(tx, customer_name)
        ids = [customer.id] if customer is not None and customer.enabled else []
    else:
        ids = [id for (id,) in tx.rows("select id from customers where enabled = 1 limit 2")]
    if len(ids) != 1:
        return True, []
    rows = [row for row in store.for_customer(tx, ids[0]) if row.enabled]
    return not customers.find(tx, ids[0]).providers_only, rows


def check_required(body: ProviderBody) -> str:
    """Check the required fields of a new provider; returns its issuer."""
    for field in ("name", "issuer", "client_id"):
        if getattr(body, field) is None:
            raise text_fields.invalid_field(field, "This is required.")
    return model.check_issuer(body.issuer or "")


def _check_owner(tx: Tx, actor: Actor) -> None:
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    require_person(actor)


def _require_other_sign_in(tx: Tx, row: ProviderRow) -> None:
    """While passwords are off, at least one owner must be able to use another provider."""
    is_needed = customers.find(tx, row.customer_id).providers_only
    if is_needed and not store.has_owner_with_provider(tx, row.customer_id, except_id=row.id):
        raise Conflict(
            "Passwords are off, and no owner could sign in without this provider. Allow passwords"
            " again first.",
            code="no_other_way",
        )


def _without_mask(body: ProviderBody, row: ProviderRow) -> ProviderBody:
    """A mask as the secret means that it is unchanged."""
    if body.client_secret != MASK:
        return body
    if not row.box:
        raise request_masking.unresolved_mask("client_secret")
    return msgspec.structs.replace(body, client_secret=None)


def _fill(keys: Keyring, row: ProviderRow, body: ProviderBody, endpoints: Endpoints) -> None:
    row.issuer, row.endpoints = endpoints.issuer, msgspec.json.encode(endpoints).decode()
    if body.name is not None:
        row.name = text_fields.line("name", body.name, most=64, least=1)
    if body.client_id is not None:
        row.client_id = text_fields.line("client_id", body.client_id, least=1)
    if body.client_secret is not None:
        secret = text_fields.line("client_secret", body.client_secret, most=1_024)
        row.box = keys.seal(secret, row.secret_context) if secret else ""
    if body.scopes is not None:
        row.scopes = _json(model.check_scopes(body.scopes))
    if body.domains is not None:
        row.domains = _json(model.check_domains(body.domains))
    if body.level is not None:
        row.level = model.check_level("level", body.level) if body.level else ""
    if body.level_claim is not None:
        row.level_claim = text_fields.line("level_claim", body.level_claim)
    if body.level_map is not None:
        row.level_map = _json(model.check_level_map(body.level_map))
    if body.enabled is not None:
        row.enabled = int(body.enabled)
    if body.callback is not None:
        row.callback = model.check_callback(body.callback, row.callback)


def _json(value: list[str] | dict[str, str]) -> str:
    return msgspec.json.encode(value).decode()


def _audit_fields(row: ProviderRow) -> dict[str, Any]:
    """What the audit log keeps: no client secret, no discovered endpoints."""
    lists = {name: msgspec.json.decode(getattr(row, name)) for name in _LISTS}
    return {name: getattr(row, name) for name in _AUDITED} | lists


_AUDITED = ("name", "issuer", "client_id", "level", "level_claim", "enabled", "callback", "version")
_LISTS = ("scopes", "domains", "level_map")


def _record_change(
    tx: Tx,
    actor: Actor,
    action: str,
    kind: str,
    row: ProviderRow,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    audit.record(tx, actor, f"provider.{action}", "provider", row.id, before, after)
    data = {"name": row.name, "enabled": bool(row.enabled), "version": row.version}
    events.append(tx, actor.customer_id, f"provider.{kind}", row.id, data)
