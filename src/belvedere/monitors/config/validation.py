"""Checking what a monitor needs to know: one check per type, every fault at once."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import is_id
from belvedere.base.text.regex_syntax import parsed
from belvedere.monitors.config.types import (
    CONFIGS,
    Dns,
    Dstat,
    File,
    Limits,
    Nested,
    Ping,
    Process,
    Push,
    Scraper,
    Script,
    Tcp,
    Tls,
)
from belvedere.monitors.model import MAX_TIMEOUT, MIN_TIMEOUT, TIMEOUT, Type

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
RECORDS = ("A", "AAAA")
MAX_TEXT = 64 * 1024
MAX_URL = 4_096
MAX_HEADERS = 50
MAX_JSON_PATH = 1_000
MAX_MEMBERS = 500
MAX_ARGUMENTS = 100

Faults = Iterator[tuple[str, str]]


def _scraper(config: Scraper) -> Faults:
    yield from _url(config.url)
    for name in ("status_code", "pattern"):
        yield from _pattern(name, getattr(config, name))
    if len(config.json_path) > MAX_JSON_PATH:
        yield "json_path", f"Give at most {MAX_JSON_PATH} characters."
    elif config.json_path and not re.fullmatch(r"\$(\.[\w-]+|\[\d+\])*", config.json_path):
        yield "json_path", "Give a path such as $.status or $.items[0].name."
    if config.json_value is not None and not config.json_path:
        yield "json_value", "Say with json_path where it is to be found."
    if config.method.upper() not in METHODS:
        yield "method", f"Give one of {', '.join(METHODS)}."
    if not 0 <= config.max_ms <= MAX_TIMEOUT:
        yield "max_ms", f"Give 0 to {MAX_TIMEOUT} milliseconds."
    if config.parser not in ("", "pattern"):
        yield "parser", "Only pattern is known; for a script use a monitor of type script."
    if len(config.headers) > MAX_HEADERS:
        yield "headers", f"Give at most {MAX_HEADERS}."
        return
    for name, value in config.headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not _is_line(value):
            yield "headers", f"{name[:40]!r} is no header."


def _url(url: str) -> Faults:
    try:
        # First of all: urlsplit normalizes what is beyond ASCII, which takes long for a long text.
        if len(url) > MAX_URL:
            raise ValueError(url[:MAX_URL])
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_good = is_good and (parts.port or 1) > 0 and url.isprintable() and " " not in url
    except ValueError:
        is_good = False
    if not is_good:
        yield "url", "Give an absolute address, http://… or https://…"


def _pattern(name: str, text: str) -> Faults:
    try:
        parsed(text)
    except Invalid as refused:
        yield name, refused.message


def _dstat(config: Dstat) -> Faults:
    for name in Limits.__struct_fields__:
        if not 0 < getattr(config.limit, name) <= 100:
            yield name, "Give a percentage above 0, at most 100."


def _process(config: Process) -> Faults:
    if not config.raw_search or not _is_line(config.raw_search):
        yield "raw_search", "Give the text to be found in a command line."
    if config.is_regexp:
        yield from _pattern("raw_search", config.raw_search)
    if config.least < 0 or (config.most is not None and config.most < config.least):
        yield "least", "Give how many there must be at least, and perhaps at most."


def _file(config: File) -> Faults:
    if not config.path.startswith("/") or "\0" in config.path or len(config.path) > 4_096:
        yield "path", "Give an absolute path."
    if config.permissions and not re.fullmatch("[0-7]{3,4}", config.permissions):
        yield "permissions", "Give octal digits such as 0644."


def _script(config: Script) -> Faults:
    if not is_id(config.script_id):
        yield "script_id", "Give the id of a stored script."
    if len(config.script_arguments) > MAX_ARGUMENTS:
        yield "script_arguments", f"Give at most {MAX_ARGUMENTS}."
    if any("\0" in one for one in (*config.script_arguments, config.script_runas)):
        yield "script_arguments", "An argument cannot hold a NUL."


def _nested(config: Nested) -> Faults:
    if not 0 < len(config.monitors) <= MAX_MEMBERS:
        yield "monitors", f"Name 1 to {MAX_MEMBERS} monitors."


def _address(config: Tcp | Ping | Dns | Tls) -> Faults:
    if not re.fullmatch(r"[A-Za-z0-9_.:%-]{1,253}", config.target):
        yield "target", "Give a host name or an address."


def _port(config: Tcp | Tls) -> Faults:
    yield from _address(config)
    if not 0 < config.port < 65_536:
        yield "port", "Give 1 to 65535."


def _dns(config: Dns) -> Faults:
    yield from _address(config)
    if config.record.upper() not in RECORDS:
        yield "record", f"Give one of {', '.join(RECORDS)}."


def _tls(config: Tls) -> Faults:
    yield from _port(config)
    if not 0 <= config.days <= 3_650:
        yield "days", "Give 0 to 3650."


def _push(config: Push) -> Faults:
    if not 0 <= config.grace <= 24 * 60 * MAX_TIMEOUT:
        yield "grace", "Give milliseconds, not negative."


def _nothing(_: Any) -> Faults:
    yield from ()


CHECKS: dict[Type, Callable[[Any], Faults]] = {
    Type.SCRAPER: _scraper,
    Type.DSTAT: _dstat,
    Type.HOST: _nothing,
    Type.PROCESS: _process,
    Type.FILE: _file,
    Type.SCRIPT: _script,
    Type.NESTED: _nested,
    Type.TCP: _port,
    Type.PING: _address,
    Type.DNS: _dns,
    Type.TLS: _tls,
    Type.PUSH: _push,
}


def checked(type_: Type, values: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a monitor of this type; Invalid names every field that is wrong."""
    try:
        config: Any = msgspec.convert(values, CONFIGS[type_], strict=False)
    except msgspec.ValidationError as fault:
        reason, _, where = str(fault).partition(" - at `$")
        raise refusal([Fault(where.rstrip("`").lstrip(".") or "config", f"{reason}.")]) from None
    faults = [Fault(field, message) for field, message in CHECKS[type_](config)]
    faults += [Fault(n, "The text holds characters that are no text.") for n in _no_text(config)]
    timeout = getattr(config, "timeout", TIMEOUT)
    if not MIN_TIMEOUT <= timeout <= MAX_TIMEOUT:
        faults.append(Fault("timeout", f"Give {MIN_TIMEOUT} to {MAX_TIMEOUT} milliseconds."))
    if faults:
        raise refusal(faults)
    found: dict[str, Any] = msgspec.to_builtins(config)
    return found


def _no_text(config: Any) -> Iterator[str]:
    for name in config.__struct_fields__:
        value = getattr(config, name)
        texts = value if isinstance(value, list) else [value]
        texts = [*value, *value.values()] if isinstance(value, dict) else texts
        for text in texts:
            if isinstance(text, str) and (len(text) > MAX_TEXT or not _is_text(text)):
                yield name


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_line(text: str) -> bool:
    return text.isprintable() and len(text) <= 4_096


def refusal(faults: list[Fault]) -> Invalid:
    told = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
    return Invalid(told, code="invalid_body", faults=tuple(faults))
