"""What each agent checks: the list of a host's monitors, whole or as a difference."""

import base64
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.files import content_of
from belvedere.files import store as file_store
from belvedere.monitors import store, watch_changes
from belvedere.monitors.config import secrecy
from belvedere.monitors.model import MonitorRow, Type
from belvedere.protocol import Watch, Watched
from belvedere.secrets import references
from belvedere.secrets import store as secret_store
from belvedere.secrets.environment import opened

# A script goes to the agent inside its configuration.
MAX_SCRIPT = 256 * 1024
# In one message to the agent: monitors, and bytes of JSON after which no further one is added.
MAX_MONITORS = 100
MAX_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Position:
    """How far an agent has been told. Within a whole list: the next part, and the last id sent."""

    number: int = -1
    part: int = 0
    after: str = ""


def of_host(tx: Tx, host_id: str, keys: Keyring) -> Watch:
    """The whole list in one message, for agents that do not take parts."""
    number, _ = watch_changes.state(tx, host_id)
    rows = store.of_host(tx, host_id)
    return Watch(number, [one for one in _Builder(tx, keys).each(rows) if one is not None])


def next_message(
    tx: Tx, host_id: str, at: Position, keys: Keyring
) -> tuple[Watch, Position] | None:
    """What an agent at this position has to be told next, and its position then; None: nothing.

    The number is read before the monitors: what changes meanwhile has a higher one and is told
    (again) afterwards.
    """
    if at.part:
        return _part(tx, host_id, at, keys)
    number, complete_from = watch_changes.state(tx, host_id)
    if number == max(at.number, 0):
        return None
    if not complete_from <= at.number < number:
        return _part(tx, host_id, Position(number), keys)
    return _difference(tx, host_id, at.number, keys)


def _part(tx: Tx, host_id: str, at: Position, keys: Keyring) -> tuple[Watch, Position]:
    """The next part of the whole list."""
    rows = store.part_of_host(tx, host_id, at.after, MAX_MONITORS)
    found, count = _fitting(_Builder(tx, keys).each(rows))
    more = count < len(rows) or count == MAX_MONITORS
    watch = Watch(at.number, found, part=at.part, more=more)
    if not more:
        return watch, Position(at.number)
    return watch, Position(at.number, at.part + 1, rows[count - 1].id)


def _difference(tx: Tx, host_id: str, since: int, keys: Keyring) -> tuple[Watch, Position]:
    """The next changes, as the monitors are now."""
    changes = watch_changes.after(tx, host_id, since, MAX_MONITORS)
    if not changes:
        # Not expected; the whole list is right in any case.
        return _part(tx, host_id, Position(watch_changes.state(tx, host_id)[0]), keys)
    by_id = {row.id: row for row in store.some_of_host(tx, host_id, [id_ for id_, _ in changes])}
    found, count = _fitting(_Builder(tx, keys).each(by_id.get(id_) for id_, _ in changes))
    present = {one.id for one in found}
    removed = [id_ for id_, _ in changes[:count] if id_ not in present]
    number = changes[count - 1][1]
    more = count < len(changes) or count == MAX_MONITORS
    return Watch(number, found, since, removed, more=more), Position(number)


def _fitting(each: Iterable[Watched | None]) -> tuple[list[Watched], int]:
    """Those that fit into one message, and how many were looked at for it."""
    found, size, count = [], 0, 0
    for one in each:
        count += 1
        if one is not None:
            found.append(one)
            size += len(msgspec.json.encode(one))
        if size >= MAX_BYTES:
            break
    return found, count


class _Builder:
    """Makes the checks of one organization; secrets and settings are read when first needed."""

    def __init__(self, tx: Tx, keys: Keyring) -> None:
        self._tx, self._keys = tx, keys
        self._values: _Secrets | None = None
        self._outer_only = False

    def each(self, rows: Iterable[MonitorRow | None]) -> Iterable[Watched | None]:
        """None for what the agent does not check (now)."""
        for row in rows:
            is_checked = row is not None and row.enabled and Type(row.type).is_run_by_agent
            yield self._watched(row) if row is not None and is_checked else None

    def _watched(self, row: MonitorRow) -> Watched | None:
        if self._values is None:
            self._values = _Secrets(self._tx, self._keys, row.customer_id)
            self._outer_only = not _may_look_inside(self._tx, row.customer_id)
        one = _watched(self._tx, row, self._values)
        if one is not None and self._outer_only:
            one.config = {**one.config, "outer_only": True}
        return one


class _Secrets:
    """Secrets of an organization, opened when the first check needs one."""

    def __init__(self, tx: Tx, keys: Keyring, customer_id: str) -> None:
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
        config = secrecy.script_for_agent(config, values)
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
    """It allows or forbids inner addresses: every check of its agents is another one."""
    rows = tx.rows(
        "select distinct host_id from monitors"
        " where customer_id = ? and host_id is not null and deleted_at is null order by host_id",
        customer_id,
    )
    for (host_id,) in rows:
        watch_changes.all_changed(tx, host_id)


def secret_changed(tx: Tx, customer_id: str) -> None:
    """Another value: agents whose checks refer to secrets must get it."""
    rows = store.chosen(tx, "type in ('scraper', 'script') and customer_id = ?", customer_id)
    _changed(tx, [row for row in rows if references.SIGN in row.config])


def script_changed(tx: Tx, customer_id: str, file_id: str) -> None:
    """A stored file has another content, or is gone: agents that run it must get it."""
    rows = store.chosen(tx, "type = 'script' and customer_id = ?", customer_id)
    _changed(tx, [row for row in rows if row.settings["script_id"] == file_id])


def _changed(tx: Tx, rows: list[MonitorRow]) -> None:
    # In one order everywhere: two servers that hold several hosts must not wait in a ring.
    for host_id in sorted({row.host_id for row in rows if row.host_id}):
        watch_changes.changed(tx, host_id, *(row.id for row in rows if row.host_id == host_id))
