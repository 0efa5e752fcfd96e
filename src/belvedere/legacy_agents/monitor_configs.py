"""The monitors of a host, as an agent of the original reads them.

What it cannot check as it is meant is left out: the monitor stays silent, and the watchdog says
so. To let it report something else would be a lie.
"""

import re
import shlex
from collections.abc import Callable
from typing import Any

import msgspec

from belvedere import files
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.files import store as file_store
from belvedere.jobs.lifecycle import orders as jobs
from belvedere.legacy_agents import registration
from belvedere.monitors import store, watch_changes
from belvedere.monitors.model import MonitorRow, Type
from belvedere.secrets import references

Worker = dict[str, Any]


class Config(msgspec.Struct):
    """The answer to the agent's question what to check."""

    workers: list[Worker]


def config(tx: Tx, host_id: str) -> Config:
    """Everything that it can check; from now on it has this configuration."""
    number = watch_changes.numbers(tx, [host_id]).get(host_id, 0)
    registration.read_config(tx, host_id, number)
    found = [_worker(tx, row) for row in store.of_host(tx, host_id) if row.enabled]
    return Config([worker for worker in found if worker is not None])


def _worker(tx: Tx, row: MonitorRow) -> Worker | None:
    shape = SHAPES.get(Type(row.type))
    special = shape(tx, row) if shape is not None else None
    if special is None:
        return None
    return {
        "type": row.type,
        "name": row.name,
        "looptime": row.looptime,
        "resource_id": row.id,
        "disabled": False,
        **special,
    }


def _scraper(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if config["json_path"] or config["max_ms"] or references.names_in(config):
        # It cannot hide anything, so it gets no secrets.
        return None
    return jobs.request_of(config, config["timeout"])


def _dstat(tx: Tx, row: MonitorRow) -> Worker | None:
    return {"limit": row.settings["limit"]}


def _process(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if config["least"] != 1 or config["most"] is not None:
        return None
    said = config["raw_search"]
    return {
        "ps": {
            "pattern": said if config["is_regexp"] else re.escape(said),
            "raw_search": said,
            "is_regexp": config["is_regexp"],
            "psargs": "aux",
        }
    }


def _script(tx: Tx, row: MonitorRow) -> Worker | None:
    config = row.settings
    if references.names_among(config["script_arguments"]):
        # It cannot hide anything, so it gets no secrets.
        return None
    try:
        file = file_store.find(tx, row.customer_id, config["script_id"])
    except NotFound:
        return None
    content = files.content_of(tx, file.sha256) or b""
    return {
        "script": {
            "id": file.id,
            "filename": jobs.cached_name(file.sha256, file.filename),
            "md5": file.md5,
            "arguments": config["script_arguments"],
            "runas": jobs.command(shlex.split(config["script_runas"]), content),
            "env": {},
            "timeout": config["timeout"],
        }
    }


SHAPES: dict[Type, Callable[[Tx, MonitorRow], Worker | None]] = {
    Type.SCRAPER: _scraper,
    Type.DSTAT: _dstat,
    Type.PROCESS: _process,
    Type.SCRIPT: _script,
}
