"""Whether a file exists with the expected owner and mode, and whether it changed."""

import os
import stat
from typing import Any

from belvedere.agent.checks.local_calls import explain_file_error, group_name, run_once, user_name
from belvedere.agent.checks.outcome import Outcome


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    path: str = config["path"]
    try:
        status, owner, group = await run_once(memory, _stat, path)
    except FileNotFoundError:
        memory["seen"] = None
        return Outcome("failure", "file:error:missing", f"{path} does not exist.")
    except OSError as fault:
        return Outcome("failure", "file:error:access", explain_file_error(fault))
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


def _stat(path: str) -> tuple[os.stat_result, str, str]:
    status = os.stat(path)
    return status, user_name(status.st_uid), group_name(status.st_gid)
