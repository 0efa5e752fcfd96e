"""The user that a script runs as, and the initial environment of that user's scripts."""

from __future__ import annotations

import os
import pwd

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ScriptAccount:
    __slots__ = ("env", "gid", "groups", "switch", "uid")

    def __init__(self, entry: pwd.struct_passwd | None, *, switch: bool) -> None:
        self.switch = switch
        self.uid = entry.pw_uid if entry else os.geteuid()
        self.gid = entry.pw_gid if entry else os.getegid()
        name = entry.pw_name if entry else str(self.uid)
        self.groups = os.getgrouplist(name, self.gid) if switch else []
        self.env = {
            "PATH": PATH,
            "HOME": entry.pw_dir if entry else "/",
            "USER": name,
            "LOGNAME": name,
            "SHELL": (entry.pw_shell if entry else "") or "/bin/sh",
            "LANG": "C.UTF-8",
        }
        if "TZ" in os.environ:
            self.env["TZ"] = os.environ["TZ"]


def own_account() -> ScriptAccount:
    """The agent's own user; in a container its uid may have no name."""
    try:
        return ScriptAccount(pwd.getpwuid(os.geteuid()), switch=False)
    except KeyError:
        return ScriptAccount(None, switch=False)


def find_account(name: str) -> ScriptAccount | None:
    """The user with this name, or None."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return ScriptAccount(entry, switch=entry.pw_uid != os.geteuid())


def may_switch() -> bool:
    return os.geteuid() == 0


def environment(account: ScriptAccount) -> dict[str, str]:
    """A fixed set of variables; nothing of the agent's own environment is passed to a script."""
    return dict(account.env)
