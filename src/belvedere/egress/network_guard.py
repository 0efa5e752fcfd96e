"""The courier's leash: what a process that calls the outside may not do, whoever's code runs in it.

An audit hook sits below every library and cannot be taken away again. It sees the very address
that a socket is about to connect to, so a name that resolves differently the second time, and a
redirect to somewhere else, meet the same check.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from belvedere.base import networks
from belvedere.base.networks import Network

# Channels come from people who must not reach the server's own machine through a library's options.
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
# Beside the code itself: the machine's common tables. Certificates are read below Python.
_READABLE = (os.devnull, "/dev/urandom", "/etc/mime.types", "/usr/share/zoneinfo")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Stopped(PermissionError):
    """The leash. Libraries know it as a connection that failed, or a file that cannot be read."""


class Guard:
    """Where this process may call; everything it refused, for whoever asks why nothing went."""

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
        """For what follows: inner networks too, or nothing else; or, for the operator's own,
        anything."""
        self._allowed, self._is_open, self.refused = networks, everywhere, []
        self._only_inner = only_inner

    def install(self) -> None:
        """From now on, for good."""
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

    def check_address(self, address: Any) -> None:
        if address is None:
            # A socket that is connected already.
            return
        # A text is the path of a socket on this machine; a name would be resolved behind our back.
        ip_address = networks.parse_address(str(address[0])) if isinstance(address, tuple) else None
        if ip_address is None:
            self._refuse("A channel must lead to an address on the network.")
        elif not self._is_open and not networks.may_call(ip_address, self._allowed):
            self._refuse("The receiver lies in an inner network, which this server may not call.")
        elif self._only_inner and not networks.is_internal(ip_address):
            self._refuse("Outside of inner networks only https is called.")

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
        self._refuse("A channel may not use files of the server.")

    def _refuse(self, reason: str) -> None:
        self.refused.append(reason)
        raise Stopped(reason)
