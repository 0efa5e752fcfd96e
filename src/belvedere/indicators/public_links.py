"""Public links: everybody with the link can see the badge of one indicator, nothing else."""

from belvedere import events
from belvedere.access import Acl, Actor, Level, audit, require
from belvedere.access.crypto.keyring import PUBLIC, Keyring, make_token
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.indicators import queries, store
from belvedere.indicators.model import IndicatorRow
from belvedere.indicators.queries import IndicatorView


def publish(tx: Tx, keys: Keyring, actor: Actor, indicator_id: str) -> tuple[IndicatorView, str]:
    """Create a link; the previous one stops working."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, lock=True)
    token = make_token(PUBLIC)
    _save(tx, actor, row, keys.digest(token), "publish")
    return queries.to_views(tx, [row])[0], token


def unpublish(tx: Tx, actor: Actor, indicator_id: str) -> IndicatorView:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, lock=True)
    if row.public_digest is not None:
        _save(tx, actor, row, None, "unpublish")
    return queries.to_views(tx, [row])[0]


def find_by_token(tx: Tx, keys: Keyring, token: str) -> IndicatorView:
    """The indicator of a valid link."""
    row = store.find_by_link(tx, keys.digest(token))
    if row is None:
        raise NotFound("This link is invalid or was revoked.", code="link_gone")
    return IndicatorView(row, Acl([], []), [], tx.now)


def _save(tx: Tx, actor: Actor, row: IndicatorRow, digest: str | None, action: str) -> None:
    row.public_digest = digest
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    audit.record(tx, actor, f"indicator.{action}", "indicator", row.id)
    events.append(tx, row.customer_id, f"indicator.{action}ed", row.id, {"title": row.title})
