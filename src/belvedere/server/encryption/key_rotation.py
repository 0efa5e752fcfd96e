"""Another key seals what is secret: verbs of the operator, each a transaction that can be repeated.

Whatever dies between two of them loses nothing: every key that anything is sealed with stays in
secret.key until `drop` has seen that nothing is.
"""

import logging
from collections.abc import Callable, Set
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from belvedere.access.crypto import key_file
from belvedere.access.crypto.key_file import KeyFile
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Tx
from belvedere.server.encryption import sealing, unreadable
from belvedere.server.encryption.unreadable import MAX_LISTED, UnreadableValue
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.keys")
BATCH = 200


@dataclass(frozen=True, slots=True)
class Sealed:
    """A column of sealed texts, and what each is sealed for."""

    table: str
    column: str
    # They find the row, and say what it is about.
    names: tuple[str, ...]
    about: Callable[..., str]


SEALED = (
    Sealed(
        "secrets",
        "box",
        ("customer_id", "task_id", "name"),
        lambda customer, task, name: f"secret/{customer}/{task}/{name}",
    ),
    *(
        Sealed(
            "secret_keys",
            column,
            ("customer_id", "object", "object_id"),
            lambda customer, object_, id_: f"secret_key/{customer}/{object_}/{id_}",
        )
        for column in ("box", "old_box")
    ),
    Sealed("channels", "box", ("customer_id", "id"), lambda c, id_: f"channel/{c}/{id_}"),
    Sealed("messages", "box", ("id",), lambda id_: f"message/{id_}"),
    Sealed("second_factors", "box", ("user_id",), lambda id_: f"second factor of {id_}"),
    Sealed("providers", "box", ("id",), lambda id_: f"client of provider {id_}"),
)


def add(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """A new key that nothing is sealed with yet; one that is there already is as good."""
    known = _file(runtime)
    if known.newest == runtime.keyring.key_name:
        known = key_file.with_new_key(known)
        if runtime.settings.secret_key:
            raise Conflict(
                "The key comes from BELVEDERE_SECRET_KEY. Set it to this on every server, restart"
                f" them, and rotate then: {' '.join(known.text().split())}",
                code="key_in_setting",
            )
        key_file.write(runtime.settings.folder, known)
    runtime.keyring.set_keys(known.seals)
    return {"key": known.newest, "in_use": runtime.keyring.key_name}


def rotate(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """Seal with the newest key from now on, and a batch of what is there anew."""
    known = _file(runtime)
    runtime.keyring.set_keys(known.seals)
    tx.execute(
        "insert into meta (name, value) values ('seal_key', ?)"
        " on conflict (name) do update set value = excluded.value",
        known.newest,
    )
    runtime.keyring.use_key(known.newest)
    done = 0
    for place in SEALED:
        if done < BATCH:
            done += _reseal(tx, runtime, place, BATCH - done)
    done += sealing.reseal(tx, runtime.keyring, BATCH - done)
    return {"key": known.newest, "resealed": done, "left": left(tx, known.newest)}


def drop(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """Forget the keys that nothing is sealed with any more. Values that no key opens keep them,
    unless the operator says that these do not count; the values stay where they are."""
    known = _file(runtime)
    runtime.keyring.load_current_key(tx)
    name = runtime.keyring.key_name
    values = _find_unreadable(tx, runtime.keyring)
    if values and not payload.get("skip_unreadable"):
        raise Conflict(
            f"{len(values)} values cannot be opened with any key in secret.key. List them with"
            " belvedere key check and set them again, or keep a backup of secret.key and run"
            " belvedere key drop --skip-unreadable.",
            code="key_unreadable",
        )
    for value in values[:MAX_LISTED]:
        log.warning(
            "old keys are dropped despite an unreadable value table=%s row=%s organization=%s",
            *(value.table, value.row, value.organization),
        )
    old = known.seals.keys() - {name}
    # Until then what was sealed anew in the same transaction may still be undone.
    tx.after_commit(lambda: _forget(runtime, old))
    return {"key": name, "dropped": len(old), "unreadable": len(values)}


def check(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """The values that no key opens, once everything else is sealed with the newest key."""
    runtime.keyring.load_current_key(tx)
    values = _find_unreadable(tx, runtime.keyring)
    return {"unreadable": len(values), "values": [asdict(v) for v in values[:MAX_LISTED]]}


def _find_unreadable(tx: Tx, keys: Keyring) -> list[UnreadableValue]:
    """It stops with a refusal at the first value that a key opens: that one needs a rotation."""
    values = []
    for place in SEALED:
        columns = (place.column, unreadable.customer_name(place.table))
        where, params = _other(place), _by(keys.key_name)
        for row in unreadable.pages(tx, place.table, place.names, columns, where, *params):
            *names, box, organization = row
            unreadable.check_unreadable(unreadable.is_readable(keys, box, place.about(*names)))
            identity = dict(zip(place.names, names, strict=True))
            values.append(UnreadableValue(place.table, place.column, identity, organization))
    return values + sealing.find_unreadable(tx, keys)


def _forget(runtime: ServerRuntime, old: Set[str]) -> None:
    """Of the file as it is by now: others may have added a key."""
    known = _file(runtime)
    kept = {name: key for name, key in known.seals.items() if name not in old}
    if not runtime.settings.secret_key:
        key_file.write(runtime.settings.folder, KeyFile(known.hash, kept))
    runtime.keyring.set_keys(kept)


def show(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    known = _file(runtime)
    return {
        "in_use": runtime.keyring.key_name,
        "keys": [{"name": name, "sealed": _count(tx, name)} for name in known.seals],
    }


def _file(runtime: ServerRuntime) -> KeyFile:
    return key_file.load(runtime.settings.folder, runtime.settings.secret_key)


def left(tx: Tx, name: str) -> int:
    """How many values another key seals."""
    return sum(
        int(tx.value(f"select count(*) from {one.table} where {_other(one)}", *_by(name)))
        for one in SEALED
    ) + sealing.left(tx, name)


def _count(tx: Tx, name: str) -> int:
    mine = "{0} not like '%.%'" if name == key_file.FIRST_KEY else "{0} like ?"
    params = () if name == key_file.FIRST_KEY else (f"{name}.%",)
    return sum(
        int(
            tx.value(
                f"select count(*) from {one.table} where {one.column} <> ''"
                f" and {mine.format(one.column)}",
                *params,
            )
        )
        for one in SEALED
    ) + sealing.count(tx, name)


def _other(place: Sealed) -> str:
    """Sealed, and not with this key: a message that was sent and a provider without a secret hold
    nothing."""
    return f"{place.column} is not null and {place.column} <> '' and {place.column} not like ?"


def _by(name: str) -> tuple[str]:
    return (f"{name}.%",)


def _reseal(tx: Tx, runtime: ServerRuntime, place: Sealed, most: int) -> int:
    rows = unreadable.pages(
        tx, place.table, place.names, (place.column,), _other(place), *_by(runtime.keyring.key_name)
    )
    pairs = (pair for row in rows if (pair := _fresh(runtime.keyring, place, row)) is not None)
    fresh = list(islice(pairs, most))
    where = " and ".join(f"{name} = ?" for name in place.names)
    # Only what was read: somebody may have set another value meanwhile.
    tx.execute_many(
        f"update {place.table} set {place.column} = ? where {where} and {place.column} = ?",
        fresh,
    )
    if fresh and place.table == "secrets":
        # Servers remember an organization's secrets by this number.
        tx.execute("update customers set secrets_version = secrets_version + 1")
    return len(fresh)


def _fresh(keys: Keyring, place: Sealed, row: tuple[str, ...]) -> tuple[str, ...] | None:
    """The new text, what finds the row, and the old text; nothing for one that was tampered with,
    which no key can open."""
    *names, box = row
    about = place.about(*names)
    try:
        return (keys.seal(keys.unseal(box, about), about), *names, box)
    except Unavailable:
        log.error("sealed value cannot be opened table=%s row=%s", place.table, names)
        return None
