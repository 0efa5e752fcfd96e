"""The monitors of a host in the format that TheEye agents read.

A monitor that such an agent cannot check exactly as configured is left out: the watchdog then
reports that it has no updates. Reporting a different check would be wrong.
"""

import posixpath
import re
import shlex
from collections.abc import Callable
from typing import Any

import msgspec

from belvedere import files
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.files import store as file_store
from belvedere.jobs.lifecycle import legacy_orders
from belvedere.legacy_agents import registration
from belvedere.monitors import store, watch_changes
from belvedere.monitors.model import MonitorRow, MonitorType
from belvedere.secrets import references

Worker = dict[str, Any]


class LegacyConfig(msgspec.Struct):
    """What the agent has to check."""

    workers: list[Worker]


def legacy_config(tx: Tx, host_id: str) -> LegacyConfig:
    """All monitors that the agent can check; it has this configuration from now on."""
    number = watch_changes.numbers(tx, [host_id]).get(host_id, 0)
    registration.note_config(tx, host_id, number)
    workers = [_worker(tx, row) for row in store.for_host(tx, host_id) if row.enabled]
    return LegacyConfig([worker for worker in workers if worker is not None])


def _worker(tx: Tx, row: MonitorRow) -> Worker | None:
    build = BUILDERS.get(MonitorType(row.type))
    fields = build(tx, row) if build is not None else None
    if fields is None:
        return None
    return {
        "type": row.type,
        "name": row.name,
        "looptime": row.looptime,
        "resource_id": row.id,
        "disabled": False,
        **fields,
    }


def _scraper(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if config["json_path"] or config["max_ms"] or references.names_in(config):
        # This agent does not mask output, so it gets no secrets.
        return None
    return legacy_orders.legacy_request(config, config["timeout"])


def _dstat(tx: Tx, row: MonitorRow) -> Worker | None:
    return {"limit": row.settings["limit"]}


def _process(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if config["least"] != 1 or config["most"] is not None:
        return None
    pattern = config["raw_search"]
    return {
        "ps": {
            "pattern": pattern if config["is_regexp"] else re.escape(pattern),
            "raw_search": pattern,
            "is_regexp": config["is_regexp"],
            "psargs": "aux",
        }
    }


def _script(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if references.names_among(config["script_arguments"]):
        # This agent does not mask output, so it gets no secrets.
        return None
    try:
        file = file_store.find(tx, row.customer_id, config["script_id"])
    except NotFound:
        return None
    content = files.content_of(tx, file.sha256) or b""
    return {
        "script": {
            "id": file.id,
            "filename": legacy_orders.cached_name(file.sha256, file.filename),
            "md5": file.md5,
            "arguments": config["script_arguments"],
            "runas": legacy_orders.command(shlex.split(config["script_runas"]), content),
            "env": {},
            "timeout": config["timeout"],
        }
    }


def _file(tx: Tx, row: MonitorRow) -> Worker | None:
    """A maintained file. This agent compares only the last three digits of the mode, and takes the
    owner as numbers; without them it is the agent's own user."""
    config = row.settings
    owner, group = (_account_id(config[name]) for name in ("os_username", "os_groupname"))
    mode = config["permissions"].zfill(4)
    if not config.get("file") or not mode.startswith("0") or owner is None or group is None:
        return None
    try:
        file = file_store.find(tx, row.customer_id, config["file"])
    except NotFound:
        return None
    dirname, basename = posixpath.split(config["path"])
    return {
        "file": {"id": file.id, "md5": file.md5},
        "path": config["path"],
        "dirname": dirname,
        "basename": basename,
        "permissions": mode,
        "os_username": config["os_username"],
        "os_groupname": config["os_groupname"],
        **({"uid": int(owner)} if owner else {}),
        **({"gid": int(group)} if group else {}),
    }


def _account_id(name: str) -> str | None:
    """The number of an account; empty: any; None: a name that only the host itself can resolve."""
    number = "0" if name == "root" else name
    return number if re.fullmatch("[0-9]{0,10}", number) else None


def _psaux(tx: Tx, row: MonitorRow) -> Worker | None:
    return {}


BUILDERS: dict[MonitorType, Callable[[Tx, MonitorRow], Worker | None]] = {
    MonitorType.SCRAPER: _scraper,
    MonitorType.DSTAT: _dstat,
    MonitorType.PROCESS: _process,
    MonitorType.SCRIPT: _script,
    MonitorType.FILE: _file,
    MonitorType.PSAUX: _psaux,
}
