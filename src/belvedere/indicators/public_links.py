"""Public read links: whoever holds one sees the badge of one indicator, and nothing else."""

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.crypto.keyring import PUBLIC, Keyring, make_token
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.indicators import queries, store
from belvedere.indicators.model import IndicatorRow
from belvedere.indicators.queries import Shown


def publish(tx: Tx, keys: Keyring, actor: Actor, indicator_id: str) -> tuple[Shown, str]:
    """A new link; the one before it is dead."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, hold=True)
    token = make_token(PUBLIC)
    _save(tx, actor, row, keys.digest(token), "publish")
    return queries.together(tx, [row])[0], token


def unpublish(tx: Tx, actor: Actor, indicator_id: str) -> Shown:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, hold=True)
    if row.public_digest is not None:
        _save(tx, actor, row, None, "unpublish")
    return queries.together(tx, [row])[0]


def behind(tx: Tx, keys: Keyring, token: str) -> Shown:
    """What a link shows, as long as it is good."""
    row = store.by_link(tx, keys.digest(token))
    if row is None:
        raise NotFound("This link shows nothing, or nothing any more.", code="link_gone")
    return Shown(row, [], [], tx.now)


def _save(tx: Tx, actor: Actor, row: IndicatorRow, digest: str | None, verb: str) -> None:
    row.public_digest = digest
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    audit.record(tx, actor, f"indicator.{verb}", "indicator", row.id)
    events.append(tx, row.customer_id, f"indicator.{verb}ed", row.id, {"title": row.title})
