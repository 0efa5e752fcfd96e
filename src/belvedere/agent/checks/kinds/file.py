"""Whether a file exists with the expected owner and mode, and whether it changed."""

import asyncio
import grp
import os
import pwd
import stat
from typing import Any

from belvedere.agent.checks.outcome import Outcome, explain
from belvedere.agent.isolation import aside


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    path: str = config["path"]
    try:
        status, owner, group = await _stat_shared(path, memory)
    except FileNotFoundError:
        memory["seen"] = None
        return Outcome("failure", "file:error:missing", f"{path} does not exist.")
    except OSError as fault:
        return Outcome("failure", "file:error:access", explain(fault))
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    data = {"size": status.st_size, "mode": mode, "owner": owner, "group": group}
    measured = {"bytes": float(status.st_size)}
    fault_ = _fault(config, data)
    if fault_:
        return Outcome("failure", "file:error:perm", fault_, data, measured)
    this = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    before, memory["seen"] = memory.get("seen", this), this
    if before != this:
        return Outcome("changed", "file:changed", f"{path} has changed.", data, measured)
    return Outcome("normal", "success", "", data, measured)


def _fault(config: dict[str, Any], data: dict[str, Any]) -> str:
    expected = (
        ("mode", config["permissions"].zfill(4) if config["permissions"] else ""),
        ("owner", config["os_username"]),
        ("group", config["os_groupname"]),
    )
    for name, value in expected:
        if value and data[name] != value:
            return f"{name} {data[name]}, expected {value}"
    return ""


async def _stat_shared(path: str, memory: dict[str, Any]) -> tuple[os.stat_result, str, str]:
    """The file system, or the directory of users, may be on an unreachable network: then one call
    hangs, not one more with every check."""
    look: asyncio.Future[tuple[os.stat_result, str, str]] | None = memory.get("look")
    if look is None or look.done():
        look = memory["look"] = asyncio.ensure_future(aside(_stat, path))
        # The caller may have given up: retrieve the exception.
        look.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(look)


def _stat(path: str) -> tuple[os.stat_result, str, str]:
    status = os.stat(path)
    return status, _user(status), _group(status)


def _user(status: os.stat_result) -> str:
    try:
        return pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return str(status.st_uid)


def _group(status: os.stat_result) -> str:
    try:
        return grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        return str(status.st_gid)
