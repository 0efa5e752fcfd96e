"""Which user a script runs as, and the environment that user's scripts begin with."""

from __future__ import annotations

import os
import pwd

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Account:
    __slots__ = ("env", "gid", "groups", "switch", "uid")

    def __init__(self, found: pwd.struct_passwd | None, *, switch: bool) -> None:
        self.switch = switch
        self.uid = found.pw_uid if found else os.geteuid()
        self.gid = found.pw_gid if found else os.getegid()
        name = found.pw_name if found else str(self.uid)
        self.groups = os.getgrouplist(name, self.gid) if switch else []
        self.env = {
            "PATH": PATH,
            "HOME": found.pw_dir if found else "/",
            "USER": name,
            "LOGNAME": name,
            "SHELL": (found.pw_shell if found else "") or "/bin/sh",
            "LANG": "C.UTF-8",
        }
        if "TZ" in os.environ:
            self.env["TZ"] = os.environ["TZ"]


def own() -> Account:
    """The agent's own user; a container may run under a number that has no name."""
    try:
        return Account(pwd.getpwuid(os.geteuid()), switch=False)
    except KeyError:
        return Account(None, switch=False)


def other(name: str) -> Account | None:
    """The named user, or None when there is none."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(found, switch=found.pw_uid != os.geteuid())


def may_switch() -> bool:
    return os.geteuid() == 0


def environment(account: Account) -> dict[str, str]:
    """From a list; nothing of the agent's own environment reaches a script."""
    return dict(account.env)
