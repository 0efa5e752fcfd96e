"""Restricts what the egress worker may do, whatever library runs in it.

An audit hook applies to every library and cannot be removed. It gets the address that a socket
connects to, so DNS rebinding and redirects cannot bypass the check.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from belvedere.base import networks
from belvedere.base.networks import Network

# The options of a channel's URL must not give access to the machine of the server.
_NEVER = frozenset(
    {
        "os.chmod",
        "os.chown",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.link",
        "os.mkdir",
        "os.posix_spawn",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.spawn",
        "os.symlink",
        "os.system",
        "os.truncate",
        "pty.spawn",
        "subprocess.Popen",
        "syslog.openlog",
        "syslog.syslog",
    }
)
# In addition to the code: system files that libraries need. OpenSSL reads the certificates itself.
_READABLE = (os.devnull, "/dev/urandom", "/etc/mime.types", "/usr/share/zoneinfo")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class CallRefused(PermissionError):
    """The guard refused a call. Libraries treat it as a failed connection or an unreadable file."""


class Guard:
    """What this process may call, and the reasons of what was refused."""

    def __init__(self) -> None:
        self._allowed: Sequence[Network] = ()
        self._is_open = self._only_inner = False
        code = (path for path in sys.path if path)
        self._readable = tuple(os.path.realpath(path) for path in (*code, *_READABLE))
        self.refused: list[str] = []

    def allow(
        self,
        networks: Sequence[Network],
        *,
        everywhere: bool = False,
        only_inner: bool = False,
    ) -> None:
        """Set what the next request may call: public addresses and these networks, with
        `only_inner` only internal addresses, with `everywhere` any address."""
        self._allowed, self._is_open, self.refused = networks, everywhere, []
        self._only_inner = only_inner

    def install(self) -> None:
        """Install the hook. It cannot be removed."""
        checks: dict[str, Callable[[tuple[Any, ...]], None]] = {
            "socket.connect": lambda args: self.check_address(args[1]),
            "socket.sendto": lambda args: self.check_address(args[1]),
            "socket.sendmsg": lambda args: self.check_address(args[1]),
            "open": self.check_file,
        }

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if event in _NEVER:
                self._refuse(f"A channel may not use {event}.")
            check = checks.get(event)
            if check is not None:
                check(args)

        sys.addaudithook(hook)

    def check_address(self, address: object) -> None:
        if address is None:
            # The socket is already connected.
            return
        # A string is the path of a local socket; a host name would be resolved after this check.
        ip_address = networks.parse_address(str(address[0])) if isinstance(address, tuple) else None
        if ip_address is None:
            self._refuse("A channel must have a network address.")
        elif not self._is_open and not networks.may_call(ip_address, self._allowed):
            self._refuse("The receiver is in an internal network that this server may not call.")
        elif self._only_inner and not networks.is_internal(ip_address):
            self._refuse("Only https is allowed outside of internal networks.")

    def check_file(self, args: tuple[Any, ...]) -> None:
        path, mode, flags = args
        if isinstance(path, int):
            return
        real_path = os.path.realpath(os.fsdecode(path))
        is_known = any(
            real_path == folder or real_path.startswith(folder + os.sep)
            for folder in self._readable
        )
        if is_known and (real_path == os.devnull or not (flags or 0) & _WRITING):
            return
        self._refuse("A channel may not access files of the server.")

    def _refuse(self, reason: str) -> None:
        self.refused.append(reason)
        raise CallRefused(reason)
