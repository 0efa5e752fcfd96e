"""The secrets that a script gets: of its organization and its task, decrypted when it starts."""

import logging
from collections.abc import Sequence

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.secrets import store
from belvedere.secrets.model import SecretRow

log = logging.getLogger("belvedere.secrets")
MAX_CACHED = 5_000


class ScriptEnvironment(msgspec.Struct):
    """Values by name, and those that have to be masked in output."""

    of_customer: dict[str, str] = {}
    of_task: dict[str, str] = {}
    hidden: list[str] = []


def sealed_rows(tx: Tx, customer_id: str, version: int) -> Sequence[SecretRow]:
    """All sealed secrets of an organization. One version never changes, so it is cached."""
    if version == 0:
        return ()
    key = ("secrets", customer_id, version)
    # Read once: the cache is shared by threads, and any of them may clear it at any time.
    cached: Sequence[SecretRow] | None = tx.version_cache.get(key)
    if cached is not None:
        return cached
    rows = store.for_customer(tx, customer_id)
    if len(tx.version_cache) > MAX_CACHED:
        tx.version_cache.clear()
    tx.version_cache[key] = rows
    return rows


def decrypt(keys: Keyring, rows: Sequence[SecretRow], task_id: str | None) -> ScriptEnvironment:
    """The values for a script of this task."""
    environment = ScriptEnvironment({}, {}, [])
    for row in rows:
        if row.task_id not in ("", task_id):
            continue
        try:
            value = keys.unseal(row.box, row.seal_context)
        except Unavailable:
            # A damaged secret must not stop scripts that do not need it.
            log.error("secret cannot be decrypted; scripts start without it name=%s", row.name)
            continue
        (environment.of_task if row.task_id else environment.of_customer)[row.name] = value
        if row.is_secret:
            environment.hidden.append(value)
    return environment
