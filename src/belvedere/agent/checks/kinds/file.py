"""Whether a file is there, with the right owner and rights, and whether it became another one."""

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
        found, owner, group = await _looked(path, memory)
    except FileNotFoundError:
        memory["seen"] = None
        return Outcome("failure", "file:error:missing", f"There is no {path}.")
    except OSError as fault:
        return Outcome("failure", "file:error:access", explain(fault))
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    data = {"size": found.st_size, "mode": mode, "owner": owner, "group": group}
    measured = {"bytes": float(found.st_size)}
    fault_ = _fault(config, data)
    if fault_:
        return Outcome("failure", "file:error:perm", fault_, data, measured)
    this = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    before, memory["seen"] = memory.get("seen", this), this
    if before != this:
        return Outcome("changed", "file:changed", f"{path} has changed.", data, measured)
    return Outcome("normal", "success", "", data, measured)


def _fault(config: dict[str, Any], data: dict[str, Any]) -> str:
    wanted = (
        ("mode", config["permissions"].zfill(4) if config["permissions"] else ""),
        ("owner", config["os_username"]),
        ("group", config["os_groupname"]),
    )
    for name, value in wanted:
        if value and data[name] != value:
            return f"{name} {data[name]}, expected {value}"
    return ""


async def _looked(path: str, memory: dict[str, Any]) -> tuple[os.stat_result, str, str]:
    """The disk behind a path, and whoever knows the names of its owners, may be a network that is
    away: then one look hangs, not one more with every check."""
    look: asyncio.Future[tuple[os.stat_result, str, str]] | None = memory.get("look")
    if look is None or look.done():
        look = memory["look"] = asyncio.ensure_future(aside(_look, path))
        # Whoever waited may have given up.
        look.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(look)


def _look(path: str) -> tuple[os.stat_result, str, str]:
    found = os.stat(path)
    return found, _user(found), _group(found)


def _user(found: os.stat_result) -> str:
    try:
        return pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return str(found.st_uid)


def _group(found: os.stat_result) -> str:
    try:
        return grp.getgrgid(found.st_gid).gr_name
    except KeyError:
        return str(found.st_gid)
