"""Whether a file is there, with the right owner and rights, and whether it became another one."""

import asyncio
import grp
import os
import pwd
import stat
from typing import Any

from belvedere.agent.checks.outcome import Outcome, explain


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    path: str = config["path"]
    try:
        # On a thread: the disk behind a path may be a network.
        found = await asyncio.to_thread(os.stat, path)
    except FileNotFoundError:
        memory["seen"] = None
        return Outcome("failure", "file:error:missing", f"There is no {path}.")
    except OSError as fault:
        return Outcome("failure", "file:error:access", explain(fault))
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    data = {"size": found.st_size, "mode": mode, "owner": _user(found), "group": _group(found)}
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
