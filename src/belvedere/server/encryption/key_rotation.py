"""Rotation of the sealing key: operations of the operator, each a transaction that can be repeated.

A crash between two of them loses nothing: a key stays in secret.key until `drop` has checked that
no value is sealed with it.
"""

import logging
from collections.abc import Callable, Set
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from belvedere.access.crypto import key_file
from belvedere.access.crypto.key_file import KeyFile
from belvedere.access.crypto.keyring import CURRENT_KEY, Keyring
from belvedere.access.customers import service as customers
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Tx, installation
from belvedere.server.encryption import sealing, unreadable
from belvedere.server.encryption.unreadable import MAX_LISTED, UnreadableValue
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.keys")
BATCH = 200


@dataclass(frozen=True, slots=True)
class SealedText:
    """A column of sealed texts, and the context that each is sealed with."""

    table: str
    name: str
    # The key of the row, from which the context is built.
    names: tuple[str, ...]
    context: Callable[..., str]


SEALED = (
    SealedText(
        "secrets",
        "box",
        ("customer_id", "task_id", "name"),
        lambda customer, task, name: f"secret/{customer}/{task}/{name}",
    ),
    *(
        SealedText(
            "secret_keys",
            column,
            ("customer_id", "object", "object_id"),
            lambda customer, object_, id_: f"secret_key/{customer}/{object_}/{id_}",
        )
        for column in ("box", "old_box")
    ),
    SealedText("channels", "box", ("customer_id", "id"), lambda c, id_: f"channel/{c}/{id_}"),
    SealedText("messages", "box", ("id",), lambda id_: f"message/{id_}"),
    SealedText("second_factors", "box", ("user_id",), lambda id_: f"second factor of {id_}"),
    SealedText("providers", "box", ("id",), lambda id_: f"client of provider {id_}"),
)


def add(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """Add a new key that is not in use yet, unless there is one already."""
    keys = _file(runtime)
    if keys.newest == runtime.keyring.key_name:
        keys = key_file.with_new_key(keys)
        if runtime.settings.secret_key:
            raise Conflict(
                "The key comes from BELVEDERE_SECRET_KEY. Set it to this on every "
                f"server, restart them, and then rotate: {' '.join(keys.text().split())}",
                code="key_in_setting",
            )
        key_file.write(runtime.settings.folder, keys)
    runtime.keyring.set_keys(keys.seals)
    return {"key": keys.newest, "in_use": runtime.keyring.key_name}


def rotate(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """Use the newest key from now on, and seal a batch of stored values again."""
    keys = _file(runtime)
    runtime.keyring.set_keys(keys.seals)
    installation.write(tx, CURRENT_KEY, keys.newest)
    runtime.keyring.use_key(keys.newest)
    done = 0
    for column in SEALED:
        if done < BATCH:
            done += _reseal(tx, runtime, column, BATCH - done)
    done += sealing.reseal(tx, runtime.keyring, BATCH - done)
    return {"key": keys.newest, "resealed": done, "left": count_other(tx, keys.newest)}


def drop(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """Forget the keys that nothing is sealed with any more. Values that no key opens keep them,
    unless the operator says that these do not count; the values stay where they are."""
    keys = _file(runtime)
    runtime.keyring.load_current_key(tx)
    name = runtime.keyring.key_name
    values = _find_unreadable(tx, runtime.keyring)
    if values and not payload.get("skip_unreadable"):
        raise Conflict(
            f"{len(values)} values cannot be decrypted with any key in secret.key. List them with"
            " belvedere key check and set them again, or keep a backup of secret.key and run"
            " belvedere key drop --skip-unreadable.",
            code="key_unreadable",
        )
    for value in values[:MAX_LISTED]:
        log.warning(
            "old keys are dropped despite an unreadable value table=%s row=%s organization=%s",
            *(value.table, value.row, value.organization),
        )
    old = keys.seals.keys() - {name}
    # Not before: a value that was sealed again in this transaction may still be rolled back.
    tx.after_commit(lambda: _delete_keys(runtime, old))
    return {"key": name, "dropped": len(old), "unreadable": len(values)}


def check(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """The values that no key opens, once everything else is sealed with the newest key."""
    runtime.keyring.load_current_key(tx)
    values = _find_unreadable(tx, runtime.keyring)
    return {"unreadable": len(values), "values": [asdict(v) for v in values[:MAX_LISTED]]}


def _find_unreadable(tx: Tx, keys: Keyring) -> list[UnreadableValue]:
    """It stops with a refusal at the first value that a key opens: that one needs a rotation."""
    values = []
    for column in SEALED:
        columns = (column.name, unreadable.customer_name(column.table))
        where, params = _other(column), _by(keys.key_name)
        for row in unreadable.pages(tx, column.table, column.names, columns, where, *params):
            *names, box, organization = row
            unreadable.check_unreadable(unreadable.is_readable(keys, box, column.context(*names)))
            identity = dict(zip(column.names, names, strict=True))
            values.append(UnreadableValue(column.table, column.name, identity, organization))
    return values + sealing.find_unreadable(tx, keys)


def _delete_keys(runtime: ServerRuntime, old: Set[str]) -> None:
    """Reads the file again: another operation may have added a key."""
    file = _file(runtime)
    seals = {name: key for name, key in file.seals.items() if name not in old}
    if not runtime.settings.secret_key:
        key_file.write(runtime.settings.folder, KeyFile(file.hash, seals))
    runtime.keyring.set_keys(seals)


def show(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    keys = _file(runtime)
    return {
        "in_use": runtime.keyring.key_name,
        "keys": [{"name": name, "sealed": _count(tx, name)} for name in keys.seals],
    }


def _file(runtime: ServerRuntime) -> KeyFile:
    return key_file.load(runtime.settings.folder, runtime.settings.secret_key)


def count_other(tx: Tx, name: str) -> int:
    """How many values are sealed with another key."""
    return sum(
        int(tx.value(f"select count(*) from {column.table} where {_other(column)}", *_by(name)))
        for column in SEALED
    ) + sealing.count_other(tx, name)


def _count(tx: Tx, name: str) -> int:
    condition = "{0} not like '%.%'" if name == key_file.FIRST_KEY else "{0} like ?"
    params = () if name == key_file.FIRST_KEY else (f"{name}.%",)
    return sum(
        int(
            tx.value(
                f"select count(*) from {column.table} where {column.name} <> ''"
                f" and {condition.format(column.name)}",
                *params,
            )
        )
        for column in SEALED
    ) + sealing.count(tx, name)


def _other(column: SealedText) -> str:
    """Sealed, and not with this key. The column is empty after a message was sent, and for a
    provider without a secret."""
    return f"{column.name} is not null and {column.name} <> '' and {column.name} not like ?"


def _by(name: str) -> tuple[str]:
    return (f"{name}.%",)


def _reseal(tx: Tx, runtime: ServerRuntime, column: SealedText, limit: int) -> int:
    rows = unreadable.pages(
        tx,
        column.table,
        column.names,
        (column.name,),
        _other(column),
        *_by(runtime.keyring.key_name),
    )
    pairs = (pair for row in rows if (pair := _resealed(runtime.keyring, column, row)) is not None)
    updates = list(islice(pairs, limit))
    where = " and ".join(f"{name} = ?" for name in column.names)
    # Only what was read: another value may have been set meanwhile.
    tx.execute_many(
        f"update {column.table} set {column.name} = ? where {where} and {column.name} = ?",
        updates,
    )
    if updates and column.table == "secrets":
        # Servers cache an organization's secrets by this number.
        customers.bump_all_secrets_versions(tx)
    return len(updates)


def _resealed(keys: Keyring, column: SealedText, row: tuple[str, ...]) -> tuple[str, ...] | None:
    """The new text, the key of the row and the old text; None for a text that no key can open,
    because it was tampered with."""
    *names, box = row
    context = column.context(*names)
    try:
        return (keys.seal(keys.unseal(box, context), context), *names, box)
    except Unavailable:
        log.error("sealed value cannot be decrypted table=%s row=%s", column.table, names)
        return None
