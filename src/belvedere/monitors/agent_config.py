"""The list of monitors that a host's agent checks, complete or as changes since a number."""

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
from belvedere.monitors import store, trial_store, watch_changes
from belvedere.monitors.config import redaction
from belvedere.monitors.model import MonitorRow, MonitorType
from belvedere.protocol import MonitorCheck, MonitorConfig
from belvedere.secrets import references
from belvedere.secrets import store as secret_store
from belvedere.secrets.environment import decrypt

# A script or a file is sent to the agent inside the configuration of its monitor.
MAX_SCRIPT = MAX_FILE = 256 * 1024
# The type of the check of a maintained file. Agents of earlier versions do not have it: they report
# nothing, instead of success without maintaining the file.
MAINTAINED_FILE = "maintained_file"
# Limits of one message to the agent: monitors, and bytes of JSON after which none is added.
MAX_MONITORS = 100
MAX_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class ListPosition:
    """What an agent already has. Within a complete list: the next part, and the last id sent."""

    number: int = -1
    part: int = 0
    after: str = ""


def full_list(tx: Tx, host_id: str, keys: Keyring) -> MonitorConfig:
    """The complete list in one message, for agents that do not support parts."""
    number, _ = watch_changes.state(tx, host_id)
    rows = [*store.for_host(tx, host_id), *trial_store.all_open_for_host(tx, host_id)]
    return MonitorConfig(
        number, [check for check in _CheckBuilder(tx, keys).build_all(rows) if check is not None]
    )


def next_message(
    tx: Tx, host_id: str, position: ListPosition, keys: Keyring
) -> tuple[MonitorConfig, ListPosition] | None:
    """The next message for an agent at this position, and its position afterwards; None: nothing.

    The number is read before the monitors: a change in between has a higher number and is sent
    (again) afterwards.
    """
    if position.part:
        return _next_part(tx, host_id, position, keys)
    number, complete_from = watch_changes.state(tx, host_id)
    if number == max(position.number, 0):
        return None
    if not complete_from <= position.number < number:
        return _next_part(tx, host_id, ListPosition(number), keys)
    return _next_changes(tx, host_id, position.number, keys)


def _next_part(
    tx: Tx, host_id: str, position: ListPosition, keys: Keyring
) -> tuple[MonitorConfig, ListPosition]:
    """The next part of the complete list."""
    rows = store.page_for_host(tx, host_id, position.after, MAX_MONITORS)
    checks, count = _fit_into_message(_CheckBuilder(tx, keys).build_all(rows))
    has_more = count < len(rows) or count == MAX_MONITORS
    watch = MonitorConfig(position.number, checks, part=position.part, more=has_more)
    if not has_more:
        return watch, ListPosition(position.number)
    return watch, ListPosition(position.number, position.part + 1, rows[count - 1].id)


def _next_changes(
    tx: Tx, host_id: str, since: int, keys: Keyring
) -> tuple[MonitorConfig, ListPosition]:
    """The next changes, with the monitors in their current version."""
    changes = watch_changes.list_after(tx, host_id, since, MAX_MONITORS)
    if not changes:
        # Not expected; the complete list is always correct.
        return _next_part(tx, host_id, ListPosition(watch_changes.state(tx, host_id)[0]), keys)
    ids = [id_ for id_, _ in changes]
    by_id = {row.id: row for row in store.select_for_host(tx, host_id, ids)}
    others = [id_ for id_ in ids if id_ not in by_id]
    by_id |= {row.id: row for row in trial_store.open_for_host(tx, host_id, others)}
    checks, count = _fit_into_message(
        _CheckBuilder(tx, keys).build_all(by_id.get(id_) for id_, _ in changes)
    )
    present = {check.id for check in checks}
    removed = [id_ for id_, _ in changes[:count] if id_ not in present]
    number = changes[count - 1][1]
    has_more = count < len(changes) or count == MAX_MONITORS
    return MonitorConfig(number, checks, since, removed, more=has_more), ListPosition(number)


def _fit_into_message(candidates: Iterable[MonitorCheck | None]) -> tuple[list[MonitorCheck], int]:
    """The checks that fit into one message, and how many rows they were made from."""
    checks, size, count = [], 0, 0
    for check in candidates:
        count += 1
        if check is not None:
            checks.append(check)
            size += len(msgspec.json.encode(check))
        if size >= MAX_BYTES:
            break
    return checks, count


class _CheckBuilder:
    """Builds the checks of one organization; reads secrets and settings when first needed."""

    def __init__(self, tx: Tx, keys: Keyring) -> None:
        self._tx, self._keys = tx, keys
        self._values: _Secrets | None = None
        self._outer_only = False

    def build_all(self, rows: Iterable[MonitorRow | None]) -> Iterable[MonitorCheck | None]:
        """One check per row; None for monitors that the agent does not check at the moment."""
        for row in rows:
            is_checked = row is not None and row.enabled and MonitorType(row.type).is_run_by_agent
            yield self._build(row) if row is not None and is_checked else None

    def _build(self, row: MonitorRow) -> MonitorCheck | None:
        if self._values is None:
            self._values = _Secrets(self._tx, self._keys, row.customer_id)
            self._outer_only = not _may_reach_private_addresses(self._tx, row.customer_id)
        check = _build_check(self._tx, row, self._values)
        if check is not None and self._outer_only:
            check.config = {**check.config, "outer_only": True}
        return check


class _Secrets:
    """Secrets of an organization, decrypted when the first check needs one."""

    def __init__(self, tx: Tx, keys: Keyring, customer_id: str) -> None:
        self._tx, self._keys, self._customer_id = tx, keys, customer_id
        self._values: dict[str, str] | None = None

    def __call__(self) -> dict[str, str]:
        if self._values is None:
            rows = secret_store.for_customer(self._tx, self._customer_id)
            self._values = decrypt(self._keys, rows, "").of_customer
        return self._values


def _build_check(tx: Tx, row: MonitorRow, values: _Secrets) -> MonitorCheck | None:
    config = row.settings
    if row.type == MonitorType.SCRAPER:
        config = redaction.resolve_scraper(config, values)
    if row.type == MonitorType.SCRIPT:
        config = redaction.resolve_script(config, values)
        script = _script(tx, row.customer_id, config)
        if script is None:
            # The check reports nothing, so the watchdog sets it to `updates_stopped`.
            return None
        config = {**config, **script}
    if row.type == MonitorType.FILE and config.get("file"):
        return _maintained_file(tx, row, config)
    return MonitorCheck(row.id, row.type, row.config_version, row.looptime, config)


def _maintained_file(tx: Tx, row: MonitorRow, config: dict[str, Any]) -> MonitorCheck:
    """`temporary` is the name of the new file until it is complete: one per configuration."""
    content, problem = _content(tx, row.customer_id, config["file"])
    fields = {
        "source": base64.b64encode(content).decode(),
        "problem": problem,
        "temporary": f".belvedere-{row.id}-{row.config_version}",
        "restores": config.get("restores", True),
    }
    return MonitorCheck(
        row.id, MAINTAINED_FILE, row.config_version, row.looptime, {**config, **fields}
    )


def _content(tx: Tx, customer_id: str, file_id: str) -> tuple[bytes, str]:
    """The content of a stored file, or why the agent does not get it."""
    try:
        file = file_store.find(tx, customer_id, file_id)
    except NotFound:
        return b"", "The stored file no longer exists."
    if file.size > MAX_FILE:
        return b"", f"The stored file has {file.size} bytes; at most {MAX_FILE} are maintained."
    return content_of(tx, file.sha256) or b"", ""


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


def _may_reach_private_addresses(tx: Tx, customer_id: str) -> bool:
    return bool(tx.value("select inner_checks from customers where id = ?", customer_id))


def on_customer_changed(tx: Tx, customer_id: str) -> None:
    """The organization allows or forbids private addresses, which is part of every check."""
    rows = tx.rows(
        "select distinct host_id from monitors"
        " where customer_id = ? and host_id is not null and deleted_at is null order by host_id",
        customer_id,
    )
    for (host_id,) in rows:
        watch_changes.record_all(tx, host_id)


def on_secret_changed(tx: Tx, customer_id: str) -> None:
    """A secret changed: agents whose checks refer to secrets must get the new value."""
    rows = store.select_locked(tx, "type in ('scraper', 'script') and customer_id = ?", customer_id)
    _record_changes(tx, [row for row in rows if references.MARKER in row.config])


def on_file_changed(tx: Tx, customer_id: str, file_id: str) -> None:
    """A stored file changed or was deleted: agents that run or maintain it must get the change."""
    rows = store.select_locked(tx, "type in ('script', 'file') and customer_id = ?", customer_id)
    _record_changes(tx, [row for row in rows if file_id in _files_of(row.settings)])


def _files_of(config: dict[str, Any]) -> tuple[str | None, str | None]:
    return config.get("script_id"), config.get("file")


def _record_changes(tx: Tx, rows: list[MonitorRow]) -> None:
    # Always in the same order: two servers that lock several hosts must not deadlock.
    for host_id in sorted({row.host_id for row in rows if row.host_id}):
        watch_changes.record(tx, host_id, *(row.id for row in rows if row.host_id == host_id))
