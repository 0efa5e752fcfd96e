"""The egress worker: a small process that sends messages, restricted by a guard.

The notification library is large and blocks. In a process of its own it does not slow down the
server, a call that hangs is ended with the process, and the guard applies to all of its code.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from belvedere.base import networks
from belvedere.egress import http_calls
from belvedere.egress.messages import Outcome, Parcel
from belvedere.egress.network_guard import Guard

# These would notify the machine of the server instead of people.
LOCAL = frozenset({"syslog", "blink1", "dbus", "kde", "qt", "glib", "gio", "gnome"}) | {
    "macosx",
    "windows",
}
MAX_FAULT = 300
# Shorter parts of a URL are words, not secrets.
SECRET_LENGTH = 6


def main() -> None:
    guard = Guard()
    guard.install()
    answers = _take_stdout()
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(carry(guard, line)) + b"\n")
        answers.flush()


def _take_stdout() -> BinaryIO:
    """Only results may be written to the server; other output is discarded."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def carry(guard: Guard, line: bytes) -> Outcome:
    parcel = msgspec.json.decode(line, type=Parcel)
    guard.allow(
        networks.parse_networks(parcel.networks),
        everywhere=parcel.is_operators,
        # A response that decides about a sign-in must not come over unencrypted public networks.
        only_inner=bool(parcel.method) and not parcel.url.startswith("https://"),
    )
    try:
        outcome = _checked(parcel) if parcel.only_check else _sent(parcel)
    except Exception as fault:
        # A hundred plugins of others: whatever one of them throws, the next parcel is carried.
        outcome = Outcome(f"The message could not be sent ({type(fault).__name__}).")
    if guard.refused and not outcome.is_done:
        return Outcome(guard.refused[0], for_good=True)
    return msgspec.structs.replace(outcome, fault=_blotted(outcome.fault, parcel.url))


def _checked(parcel: Parcel) -> Outcome:
    """What kind of receiver this is the address of."""
    scheme = parcel.url.partition(":")[0].lower()
    if scheme in LOCAL:
        return Outcome("This would reach the server's own machine, nobody else.")
    fault = http_calls.check(parcel.url) if scheme in http_calls.SCHEMES else ""
    if fault:
        return Outcome(fault)
    plugin, messages = _plugin(parcel)
    if plugin is not None:
        return Outcome(service=str(plugin.service_name), scheme=scheme)
    if scheme in http_calls.SCHEMES:
        return Outcome(service="Webhook", scheme=scheme)
    return Outcome(messages or "No service has such an address.")


def _sent(parcel: Parcel) -> Outcome:
    if parcel.method:
        return http_calls.ask(parcel)
    if parcel.secret:
        return http_calls.post(parcel)
    plugin, messages = _plugin(parcel)
    if plugin is None:
        return Outcome(messages or "The address is no longer understood.", for_good=True)
    from apprise import Apprise, NotifyFormat

    sender = Apprise(asset=plugin.asset)
    sender.add(plugin)
    with _listening() as log_lines:
        is_sent = sender.notify(
            title=parcel.title,
            body=parcel.body,
            notify_type=_TYPES.get(parcel.severity, "info"),
            body_format=NotifyFormat.TEXT,
        )
    messages = log_lines[0] if log_lines else ""
    return Outcome() if is_sent else Outcome(messages or "The service did not take the message.")


_TYPES = {"HIGH": "warning", "CRITICAL": "failure"}


def _plugin(parcel: Parcel) -> tuple[Any, str]:
    """Whoever knows this address, or what is wrong with it."""
    from apprise import Apprise, AppriseAsset, PersistentStoreMode

    asset = AppriseAsset(
        app_id="Belvedere",
        app_desc="Belvedere",
        app_url="",
        storage_mode=PersistentStoreMode.MEMORY,
        secure_logging=True,
    )
    with _listening() as log_lines:
        target: Any = _to_person(parcel) if parcel.to else parcel.url
        plugin = Apprise.instantiate(target, asset=asset, suppress_exceptions=True)
    return plugin, log_lines[0] if log_lines and plugin is None else ""


def _to_person(parcel: Parcel) -> Any:
    """The installation's mail address, for one recipient."""
    from apprise.plugins.email import NotifyEmail

    settings = NotifyEmail.parse_url(parcel.url)  # type: ignore[no-untyped-call]
    if settings is not None:
        settings["targets"] = [parcel.to]
    return settings


@contextmanager
def _listening() -> Iterator[list[str]]:
    """What the library complains of; the first complaint is the cause of the others."""
    log_lines: list[str] = []
    ear = logging.Handler(logging.WARNING)
    ear.emit = lambda record: log_lines.append(" ".join(record.getMessage().split()))  # type: ignore[method-assign]
    log = logging.getLogger("apprise")
    log.addHandler(ear)
    try:
        yield log_lines
    finally:
        log.removeHandler(ear)


def _blotted(fault: str, url: str) -> str:
    """What a library says of a failure, without any piece of the address that may be a secret."""
    parts = urlsplit(url)
    pieces = {url, parts.password or "", parts.username or "", parts.query}
    pieces |= set(parts.path.split("/")) | set(unquote(parts.path).split("/"))
    pieces |= {value for _, value in parse_qsl(parts.query)} | {(parts.netloc).partition("@")[0]}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece) >= SECRET_LENGTH:
            fault = fault.replace(piece, "***")
    return fault[:MAX_FAULT]


if __name__ == "__main__":
    main()
