"""What each agent shall check: the whole of it, under a number that grows with every change."""

import base64
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access.keys import Keys
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.files import content_of
from belvedere.files import store as file_store
from belvedere.monitors import secrecy, store
from belvedere.monitors.model import MonitorRow, Type
from belvedere.protocol import Watch, Watched
from belvedere.secrets import references
from belvedere.secrets import store as secret_store
from belvedere.secrets.given import opened

# A script goes to the agent inside its configuration.
MAX_SCRIPT = 256 * 1024


def changed(tx: Tx, host_id: str | None) -> None:
    """The host's agent must hear of another configuration."""
    if host_id is None:
        return
    tx.run(
        "insert into watches (host_id, number, stream, batch) values (?, 1, '', 0)"
        " on conflict (host_id) do update set number = watches.number + 1",
        host_id,
    )
    tx.rung.add(f"watch:{host_id}")


def of_host(tx: Tx, host_id: str, keys: Keys) -> Watch:
    """For the agent of this host, with the secrets that its checks refer to."""
    number = tx.value("select number from watches where host_id = ?", host_id) or 0
    rows = [row for row in store.of_host(tx, host_id) if row.enabled]
    values = _Secrets(tx, keys, rows[0].customer_id if rows else "")
    watched = [_watched(tx, row, values) for row in rows if Type(row.type).is_run_by_agent]
    found = [one for one in watched if one is not None]
    if rows and not _may_look_inside(tx, rows[0].customer_id):
        for one in found:
            one.config = {**one.config, "outer_only": True}
    return Watch(number, found)


def numbers(tx: Tx, host_ids: Sequence[str]) -> dict[str, int]:
    """Which configuration each of these should have."""
    rows = tx.rows(
        f"select host_id, number from watches where host_id in {tx.sql.texts}",
        msgspec.json.encode(list(host_ids)).decode(),
    )
    return {host_id: number for host_id, number in rows}


class _Secrets:
    """Secrets of an organization, opened when the first check needs one."""

    def __init__(self, tx: Tx, keys: Keys, customer_id: str) -> None:
        self._tx, self._keys, self._customer_id = tx, keys, customer_id
        self._values: dict[str, str] | None = None

    def __call__(self) -> dict[str, str]:
        if self._values is None:
            rows = secret_store.of_customer(self._tx, self._customer_id)
            self._values = opened(self._keys, rows, "").of_customer
        return self._values


def _watched(tx: Tx, row: MonitorRow, values: _Secrets) -> Watched | None:
    config = row.settings
    if row.type == Type.SCRAPER:
        config = secrecy.for_agent(config, values)
    if row.type == Type.SCRIPT:
        script = _script(tx, row.customer_id, config)
        if script is None:
            # It stays silent, and the watchdog says so.
            return None
        config = {**config, **script}
    return Watched(row.id, row.type, row.config_version, row.looptime, config)


def _script(tx: Tx, customer_id: str, config: dict[str, Any]) -> dict[str, Any] | None:
    try:
        file = file_store.find(tx, customer_id, config["script_id"])
    except NotFound:
        return None
    content = content_of(tx, file.sha256)
    if content is None or len(content) > MAX_SCRIPT:
        return None
    return {
        "filename": file.filename,
        "sha256": file.sha256,
        "source": base64.b64encode(content).decode(),
        "runas": shlex.split(config["script_runas"]),
    }


def _may_look_inside(tx: Tx, customer_id: str) -> bool:
    return bool(tx.value("select inner_checks from customers where id = ?", customer_id))


def customer_changed(tx: Tx, customer_id: str) -> None:
    """It allows or forbids inner addresses: all of its agents must hear of it."""
    rows = store.chosen(tx, "host_id is not null and customer_id = ?", customer_id)
    for host_id in sorted({row.host_id for row in rows if row.host_id}):
        changed(tx, host_id)


def secret_changed(tx: Tx, customer_id: str) -> None:
    """Another value: agents whose checks refer to secrets must hear of it."""
    rows = store.chosen(tx, "type = 'scraper' and customer_id = ?", customer_id)
    referring = [row for row in rows if references.SIGN in row.config]
    for host_id in sorted({row.host_id for row in referring if row.host_id}):
        changed(tx, host_id)


def script_changed(tx: Tx, customer_id: str, file_id: str) -> None:
    """A stored file has another content, or is gone: whoever runs it must hear of it."""
    rows = store.chosen(tx, "type = 'script' and customer_id = ?", customer_id)
    hosts = {row.host_id for row in rows if row.settings["script_id"] == file_id}
    for host_id in sorted(host for host in hosts if host):
        changed(tx, host_id)
