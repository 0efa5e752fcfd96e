"""What owners do with providers. Whoever sets one decides who enters as whom, the owner too."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require, require_person
from belvedere.access.crypto.keyring import Keys
from belvedere.access.customers import service
from belvedere.access.people import memberships
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.providers import model, store
from belvedere.providers.model import DEFAULT_SCOPES, MAX_MANY, Endpoints, ProviderBody, ProviderRow
from belvedere.rest import text_fields


def listed(tx: Tx, actor: Actor) -> list[ProviderRow]:
    require(actor, Level.ADMIN)
    return store.of_customer(tx, actor.customer_id)


def show(tx: Tx, actor: Actor, provider_id: str) -> ProviderRow:
    require(actor, Level.ADMIN)
    return store.find(tx, actor.customer_id, provider_id)


def create(tx: Tx, keys: Keys, actor: Actor, body: ProviderBody, where: Endpoints) -> ProviderRow:
    _check_owner(tx, actor)
    if len(store.of_customer(tx, actor.customer_id)) >= MAX_MANY:
        raise Conflict(f"There are {MAX_MANY} providers already.", code="too_many_providers")
    row = ProviderRow(
        *(new_id(), actor.customer_id, "", "", "", "", _json(list(DEFAULT_SCOPES)), "[]"),
        *("", "", "{}", 1, "", 1, tx.now, tx.now),
    )
    _fill(keys, row, body, where)
    store.insert(tx, row)
    _tell(tx, actor, "create", "created", row, None, _audited(row))
    return row


def change(
    tx: Tx,
    keys: Keys,
    actor: Actor,
    provider_id: str,
    body: ProviderBody,
    where: Endpoints,
    if_match: int | None = None,
) -> ProviderRow:
    """Another issuer knows other people: nobody stays bound, and nobody in."""
    _check_owner(tx, actor)
    row = store.find(tx, actor.customer_id, provider_id)
    if if_match is not None and if_match != row.version:
        raise Stale("The provider was changed meanwhile; read it again.")
    before, issuer = _audited(row), row.issuer
    _fill(keys, row, body, where)
    if row.issuer != issuer and row.box and body.client_secret is None:
        raise text_fields.bad(
            "client_secret",
            f"The stored one was entered for {issuer}; enter that of {row.issuer}.",
        )
    row.version, row.updated_at = row.version + 1, tx.now
    if row.issuer != issuer:
        store.forget_people(tx, row.id)
    if row.issuer != issuer or not row.enabled:
        _check_way_in(tx, row)
        store.end_sessions(tx, row.id)
    store.save(tx, row)
    _tell(tx, actor, "change", "changed", row, before, _audited(row))
    return row


def delete(tx: Tx, actor: Actor, provider_id: str) -> ProviderRow:
    """Whoever came in through it is out, and needs a password or another provider."""
    _check_owner(tx, actor)
    row = store.find(tx, actor.customer_id, provider_id)
    _check_way_in(tx, row)
    store.end_sessions(tx, row.id)
    store.delete(tx, row)
    _tell(tx, actor, "delete", "deleted", row, _audited(row), None)
    return row


def doors(tx: Tx, customer_name: str | None) -> tuple[bool, list[ProviderRow]]:
    """For the sign-in page: whether a password opens the organization that it names, and its
    providers; without a name those of the only one."""
    if customer_name is not None:
        found = service.by_name(tx, customer_name)
        ids = [found.id] if found is not None and found.enabled else []
    else:
        ids = [id for (id,) in tx.rows("select id from customers where enabled = 1 limit 2")]
    if len(ids) != 1:
        return True, []
    rows = [row for row in store.of_customer(tx, ids[0]) if row.enabled]
    return not service.find(tx, ids[0]).providers_only, rows


def required(body: ProviderBody) -> str:
    """The issuer of a new one, once nothing is missing."""
    for field in ("name", "issuer", "client_id"):
        if getattr(body, field) is None:
            raise text_fields.bad(field, "This is required.")
    return model.issuer(body.issuer or "")


def _check_owner(tx: Tx, actor: Actor) -> None:
    memberships.confirm(tx, actor)
    require(actor, Level.OWNER)
    require_person(actor)


def _check_way_in(tx: Tx, row: ProviderRow) -> None:
    """While passwords are off, an owner must be left who has come through another provider."""
    is_needed = service.find(tx, row.customer_id).providers_only
    if is_needed and not service.has_other_way(tx, row.customer_id, but=row.id):
        raise Conflict(
            "Passwords are off, and no owner could sign in without this provider; allow them again"
            " first.",
            code="no_other_way",
        )


def _fill(keys: Keys, row: ProviderRow, body: ProviderBody, where: Endpoints) -> None:
    row.issuer, row.endpoints = where.issuer, msgspec.json.encode(where).decode()
    if body.name is not None:
        row.name = text_fields.line("name", body.name, most=64, least=1)
    if body.client_id is not None:
        row.client_id = text_fields.line("client_id", body.client_id, least=1)
    if body.client_secret is not None:
        secret = text_fields.line("client_secret", body.client_secret, most=1_024)
        row.box = keys.seal(secret, row.about) if secret else ""
    if body.scopes is not None:
        row.scopes = _json(model.scopes(body.scopes))
    if body.domains is not None:
        row.domains = _json(model.domains(body.domains))
    if body.level is not None:
        row.level = model.level("level", body.level) if body.level else ""
    if body.level_claim is not None:
        row.level_claim = text_fields.line("level_claim", body.level_claim)
    if body.level_map is not None:
        row.level_map = _json(model.level_map(body.level_map))
    if body.enabled is not None:
        row.enabled = int(body.enabled)
    if body.callback is not None:
        row.callback = model.callback(body.callback, row.callback)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _audited(row: ProviderRow) -> dict[str, Any]:
    """Without the sealed secret, and without what the issuer says of itself."""
    lists = {name: msgspec.json.decode(getattr(row, name)) for name in _LISTS}
    return {name: getattr(row, name) for name in _TOLD} | lists


_TOLD = ("name", "issuer", "client_id", "level", "level_claim", "enabled", "callback", "version")
_LISTS = ("scopes", "domains", "level_map")


def _tell(
    tx: Tx,
    actor: Actor,
    action: str,
    kind: str,
    row: ProviderRow,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    audit.record(tx, actor, f"provider.{action}", "provider", row.id, before, after)
    told = {"name": row.name, "enabled": bool(row.enabled), "version": row.version}
    events.append(tx, actor.customer_id, f"provider.{kind}", row.id, told)
