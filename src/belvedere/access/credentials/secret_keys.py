"""The secret key of a task, workflow or webhook: encrypted for admins to read, hashed to
compare."""

import hmac
import secrets

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.people import naming
from belvedere.base.clock import DAY, SECOND
from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Tx, columns

MAX_OVERLAP_S = 30 * DAY // SECOND
# Compared with when there is no key, so that a missing record takes the same time.
_NOTHING = "-" * 64


class SecretKey(msgspec.Struct, frozen=True):
    digest: str
    box: str
    old_digest: str | None
    old_box: str | None
    old_until: int | None


def create(tx: Tx, keys: Keyring, customer_id: str, object: str, object_id: str) -> str:
    """Create the key of a new record."""
    secret = secrets.token_hex(32)
    tx.execute(
        "insert into secret_keys (object, object_id, customer_id, digest, box, rotated_at)"
        " values (?, ?, ?, ?, ?, ?)",
        object,
        object_id,
        customer_id,
        keys.digest(secret),
        keys.seal(secret, _context(customer_id, object, object_id)),
        tx.now,
    )
    return secret


def reveal(tx: Tx, keys: Keyring, actor: Actor, object: str, object_id: str) -> str:
    """The key in clear, for an admin; every access is audited."""
    require(actor, Level.ADMIN)
    row = _require(tx, actor.customer_id, object, object_id)
    audit.record(tx, actor, f"{object}.reveal_secret", object, object_id)
    return keys.unseal(row.box, _context(actor.customer_id, object, object_id))


def rotate(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    object: str,
    object_id: str,
    overlap_s: int = 0,
    new_secret: str | None = None,
) -> str:
    """Replace the key by `new_secret` or a random one. The old key is valid for `overlap_s`
    more."""
    require(actor, Level.ADMIN)
    if not 0 <= overlap_s <= MAX_OVERLAP_S:
        raise Invalid(f"The overlap must be 0 to {MAX_OVERLAP_S} seconds.", code="bad_overlap")
    old = _require(tx, actor.customer_id, object, object_id)
    secret = secrets.token_hex(32) if new_secret is None else new_secret
    tx.execute(
        "update secret_keys set digest = ?, box = ?, old_digest = ?, old_box = ?,"
        " old_until = ?, rotated_at = ? where customer_id = ? and object = ? and object_id = ?",
        keys.digest(secret),
        keys.seal(secret, _context(actor.customer_id, object, object_id)),
        old.digest if overlap_s else None,
        old.box if overlap_s else None,
        tx.now + overlap_s * SECOND if overlap_s else None,
        tx.now,
        actor.customer_id,
        object,
        object_id,
    )
    audit.record(
        tx, actor, f"{object}.rotate_secret", object, object_id, None, {"overlap": overlap_s}
    )
    events.append(tx, actor.customer_id, f"{object}.secret_rotated", object_id)
    return secret


def check(
    tx: Tx, keys: Keyring, customer_id: str, object: str, object_id: str, secret: str
) -> bool:
    """Whether the secret is valid for this record of this organization. Takes the same time when
    there is no such record."""
    row = _find(tx, customer_id, object, object_id)
    digest = keys.digest(secret)
    current, old = _NOTHING, _NOTHING
    if row is not None:
        current = row.digest
        if row.old_digest is not None and (row.old_until or 0) > tx.now:
            old = row.old_digest
    is_current = hmac.compare_digest(digest, current)
    is_old = hmac.compare_digest(digest, old)
    return is_current or is_old


def find_record(
    tx: Tx, keys: Keyring, object: str, object_id: str | None, secret: str, customer: str | None
) -> str | None:
    """The id of the record that the secret belongs to; None: of no record. The record's id and the
    organization (a name in lower case) are optional, but must match if they are present."""
    if object_id is None:
        object_id = _find_object_id(tx, object, keys.digest(secret))
    row = tx.row(
        "select k.customer_id, c.name_key from secret_keys k"
        " join customers c on c.id = k.customer_id"
        " where k.object = ? and k.object_id = ? and c.enabled = 1",
        object,
        object_id or "",
    )
    named = None if customer is None else naming.customer_key(customer) or ""
    customer_id = "" if row is None or named not in (None, row[1]) else str(row[0])
    is_right = check(tx, keys, customer_id, object, object_id or "", secret)
    return object_id if is_right else None


def _find_object_id(tx: Tx, object: str, digest: str) -> str | None:
    object_id: str | None = tx.value(
        "select object_id from secret_keys where digest = ? and object = ?", digest, object
    )
    if object_id is None:
        object_id = tx.value(
            "select object_id from secret_keys"
            " where old_digest = ? and object = ? and old_until > ?",
            digest,
            object,
            tx.now,
        )
    return object_id


def list_valid(tx: Tx, keys: Keyring, customer_id: str, object: str, object_id: str) -> list[str]:
    """The keys in clear that are valid now, to check what was signed with one of them."""
    row = _find(tx, customer_id, object, object_id)
    if row is None:
        return []
    boxes = [row.box]
    if row.old_box is not None and (row.old_until or 0) > tx.now:
        boxes.append(row.old_box)
    return [keys.unseal(box, _context(customer_id, object, object_id)) for box in boxes]


def delete(tx: Tx, customer_id: str, object: str, object_id: str) -> None:
    """For a record that is being deleted: its key becomes invalid."""
    tx.execute(
        "delete from secret_keys where customer_id = ? and object = ? and object_id = ?",
        customer_id,
        object,
        object_id,
    )


def _find(tx: Tx, customer_id: str, object: str, object_id: str) -> SecretKey | None:
    return tx.one(
        SecretKey,
        f"select {columns(SecretKey)} from secret_keys"
        " where customer_id = ? and object = ? and object_id = ?",
        customer_id,
        object,
        object_id,
    )


def _require(tx: Tx, customer_id: str, object: str, object_id: str) -> SecretKey:
    row = _find(tx, customer_id, object, object_id)
    if row is None:
        raise NotFound(f"There is no such {object}.", code=f"{object}_not_found")
    return row


def _context(customer_id: str, object: str, object_id: str) -> str:
    return f"secret_key/{customer_id}/{object}/{object_id}"
