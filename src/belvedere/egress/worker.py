"""The egress worker: a small process that sends messages, restricted by a guard.

The notification library is large and blocks. In a process of its own it does not slow down the
server, a call that hangs is ended with the process, and the guard applies to all of its code.
"""

import os
import sys
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from belvedere.base import networks
from belvedere.egress import http_calls, library_log
from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.egress.network_guard import Guard

# These would notify the machine of the server instead of people.
LOCAL = frozenset({"syslog", "blink1", "dbus", "kde", "qt", "glib", "gio", "gnome"}) | {
    "macosx",
    "windows",
}
MAX_FAULT = 300
# The pages of Apprise about the addresses of each service.
ADDRESSES = "https://appriseit.com/services/"
# Shorter parts of a URL are words, not secrets.
SECRET_LENGTH = 6


def main() -> None:
    guard = Guard()
    guard.install()
    answers = _take_stdout()
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(handle(guard, line)) + b"\n")
        answers.flush()


def _take_stdout() -> BinaryIO:
    """Only results may be written to the server; other output is discarded."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def handle(guard: Guard, line: bytes) -> EgressResult:
    request = msgspec.json.decode(line, type=EgressRequest)
    guard.allow(
        networks.parse_networks(request.networks),
        everywhere=request.is_operators,
        # A response that decides about a sign-in must not come over unencrypted public networks.
        only_inner=bool(request.method) and not request.url.startswith("https://"),
    )
    try:
        result = _check_url(request) if request.only_check else _send(request)
    except Exception as fault:
        # Third-party plugins may raise anything; the worker must survive it.
        result = EgressResult(f"The message could not be sent ({type(fault).__name__}).")
    if guard.refused and not result.is_done:
        return EgressResult(guard.refused[0], for_good=True)
    return msgspec.structs.replace(result, fault=_mask_url(result.fault, request.url))


def _check_url(request: EgressRequest) -> EgressResult:
    """The kind of receiver that this URL belongs to."""
    scheme = request.url.partition(":")[0].lower()
    if scheme in LOCAL:
        return EgressResult("This would notify only the server's own machine.")
    fault = http_calls.check(request.url) if scheme in http_calls.SCHEMES else ""
    if fault:
        return EgressResult(fault)
    plugin, messages = _plugin(request)
    if plugin is not None:
        return EgressResult(service=str(plugin.service_name), scheme=scheme)
    if scheme in http_calls.SCHEMES:
        return EgressResult(service="Webhook", scheme=scheme)
    return EgressResult(messages or "This is not the URL of a known service.")


def _send(request: EgressRequest) -> EgressResult:
    if request.method:
        return http_calls.fetch(request)
    if request.secret:
        return http_calls.post(request)
    plugin, messages = _plugin(request)
    if plugin is None:
        return EgressResult(messages or "The address is no longer supported.", for_good=True)
    from apprise import Apprise, NotifyFormat

    sender = Apprise(asset=plugin.asset)
    sender.add(plugin)
    with library_log.capture() as log:
        is_sent = sender.notify(
            title=request.title,
            body=request.body,
            notify_type=_TYPES.get(request.severity, "info"),
            body_format=NotifyFormat.TEXT,
        )
    return (
        EgressResult()
        if is_sent
        else EgressResult(log.fault() or "The service did not accept the message.")
    )


_TYPES = {"HIGH": "warning", "CRITICAL": "failure"}


def _plugin(request: EgressRequest) -> tuple[Any, str]:
    """The plugin for this URL, or the reason why there is none."""
    from apprise import Apprise, AppriseAsset, PersistentStoreMode

    asset = AppriseAsset(
        app_id="Belvedere",
        app_desc="Belvedere",
        app_url="",
        storage_mode=PersistentStoreMode.MEMORY,
        secure_logging=True,
    )
    with library_log.capture() as log:
        # Apprise takes an address or a dict of settings, and has no types for either.
        target: Any = _to_person(request) if request.to else request.url
        plugin = Apprise.instantiate(target, asset=asset, suppress_exceptions=True)
    return plugin, _reason(request.url, log.fault()) if plugin is None else ""


def _reason(url: str, fault: str) -> str:
    """Why Apprise made nothing of an address; its own message often says only that."""
    from apprise.manager_plugins import NotificationManager

    scheme = url.partition("://")[0].lower()
    if scheme not in NotificationManager():  # type: ignore[no-untyped-call]
        return f"No known service has addresses like this one. See {ADDRESSES}"
    if not fault or "Unparseable" in fault:
        return f"The address is incomplete. See {ADDRESSES} for what this service needs."
    return fault


def _to_person(request: EgressRequest) -> Any:  # a dict of settings, or None
    """The installation's mail address, for one recipient."""
    from apprise.plugins.email import NotifyEmail

    settings = NotifyEmail.parse_url(request.url)  # type: ignore[no-untyped-call]
    if settings is not None:
        settings["targets"] = [request.to]
    return settings


def _mask_url(fault: str, url: str) -> str:
    """The error message of a library, with every part of the URL masked that may be a secret."""
    parts = urlsplit(url)
    login = {parts.password or "", parts.username or ""}
    pieces = {url, parts.query} | login | set(map(unquote, login))
    pieces |= set(parts.path.split("/")) | set(unquote(parts.path).split("/"))
    pieces |= {value for _, value in parse_qsl(parts.query)} | {(parts.netloc).partition("@")[0]}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece) >= SECRET_LENGTH:
            fault = fault.replace(piece, "***")
    return fault[:MAX_FAULT]


if __name__ == "__main__":
    main()
