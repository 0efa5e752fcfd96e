"""What a script gets: the secrets of its organization and its task, opened at the last moment."""

import logging
from collections.abc import Sequence

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.secrets import store
from belvedere.secrets.model import SecretRow

log = logging.getLogger("belvedere.secrets")
REMEMBERED = 5_000


class Given(msgspec.Struct):
    """Values by name, and those of them that must be hidden."""

    of_customer: dict[str, str] = {}
    of_task: dict[str, str] = {}
    hidden: list[str] = []


def sealed(tx: Tx, customer_id: str, version: int) -> Sequence[SecretRow]:
    """All of an organization's, still sealed. One version of them never changes: read once."""
    if version == 0:
        return ()
    key = ("secrets", customer_id, version)
    # Asked once: the memo is shared by threads, and any of them may empty it at any moment.
    cached: Sequence[SecretRow] | None = tx.version_cache.get(key)
    if cached is not None:
        return cached
    rows = store.of_customer(tx, customer_id)
    if len(tx.version_cache) > REMEMBERED:
        tx.version_cache.clear()
    tx.version_cache[key] = rows
    return rows


def opened(keys: Keyring, rows: Sequence[SecretRow], task_id: str | None) -> Given:
    """Those for a script of this task."""
    environment = Given({}, {}, [])
    for row in rows:
        if row.task_id not in ("", task_id):
            continue
        try:
            value = keys.unseal(row.box, row.about)
        except Unavailable:
            # One that somebody tampered with must not stop the work of others.
            log.error("the secret %s cannot be opened; scripts go without it", row.name)
            continue
        (environment.of_task if row.task_id else environment.of_customer)[row.name] = value
        if row.is_secret:
            environment.hidden.append(value)
    return environment
