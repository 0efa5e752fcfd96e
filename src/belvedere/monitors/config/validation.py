"""Validation of configurations: one check per type, all faults at once."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import is_id
from belvedere.base.text.regex_syntax import parse_pattern
from belvedere.monitors.config.types import (
    CONFIGS,
    DnsConfig,
    DstatConfig,
    DstatLimits,
    FileConfig,
    NestedConfig,
    PingConfig,
    ProcessConfig,
    PushConfig,
    ScraperConfig,
    ScriptConfig,
    TcpConfig,
    TlsConfig,
)
from belvedere.monitors.model import MAX_TIMEOUT, MIN_TIMEOUT, TIMEOUT, MonitorType

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
RECORDS = ("A", "AAAA")
MAX_TEXT = 64 * 1024
MAX_URL = 4_096
MAX_HEADERS = 50
MAX_JSON_PATH = 1_000
MAX_MEMBERS = 500
MAX_ARGUMENTS = 100

Faults = Iterator[tuple[str, str]]


def _scraper(config: ScraperConfig) -> Faults:
    yield from _url(config.url)
    for name in ("status_code", "pattern"):
        yield from _pattern(name, getattr(config, name))
    if len(config.json_path) > MAX_JSON_PATH:
        yield "json_path", f"Give at most {MAX_JSON_PATH} characters."
    elif config.json_path and not re.fullmatch(r"\$(\.[\w-]+|\[\d+\])*", config.json_path):
        yield "json_path", "Give a path such as $.status or $.items[0].name."
    if config.json_value is not None and not config.json_path:
        yield "json_value", "Give json_path as well: where the value is in the response."
    if config.method.upper() not in METHODS:
        yield "method", f"Give one of {', '.join(METHODS)}."
    if not 0 <= config.max_ms <= MAX_TIMEOUT:
        yield "max_ms", f"Give 0 to {MAX_TIMEOUT} milliseconds."
    if config.parser not in ("", "pattern"):
        yield (
            "parser",
            "Only `pattern` is supported; to run a script, use a monitor of type script.",
        )
    if len(config.headers) > MAX_HEADERS:
        yield "headers", f"Give at most {MAX_HEADERS} headers."
        return
    for name, value in config.headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not _is_line(value):
            yield "headers", f"{name[:40]!r} is not a valid header."


def _url(url: str) -> Faults:
    try:
        # Before urlsplit, which normalizes non-ASCII characters and is slow for long texts.
        if len(url) > MAX_URL:
            raise ValueError(url[:MAX_URL])
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_good = is_good and (parts.port or 1) > 0 and url.isprintable() and " " not in url
    except ValueError:
        is_good = False
    if not is_good:
        yield "url", "Give an absolute URL, http://… or https://…"


def _pattern(name: str, text: str) -> Faults:
    try:
        parse_pattern(text)
    except Invalid as error:
        yield name, error.message


def _dstat(config: DstatConfig) -> Faults:
    for name in DstatLimits.__struct_fields__:
        if not 0 < getattr(config.limit, name) <= 100:
            yield name, "Give a percentage above 0, at most 100."


def _process(config: ProcessConfig) -> Faults:
    if not config.raw_search or not _is_line(config.raw_search):
        yield "raw_search", "Give the text to search for in command lines."
    if config.is_regexp:
        yield from _pattern("raw_search", config.raw_search)
    if config.least < 0 or (config.most is not None and config.most < config.least):
        yield "least", "Give the minimum number of processes; it must not be larger than `most`."


def _file(config: FileConfig) -> Faults:
    if not config.path.startswith("/") or "\0" in config.path or len(config.path) > 4_096:
        yield "path", "Give an absolute path."
    if config.permissions and not re.fullmatch("[0-7]{3,4}", config.permissions):
        yield "permissions", "Give octal digits such as 0644."


def _script(config: ScriptConfig) -> Faults:
    if not is_id(config.script_id):
        yield "script_id", "Give the id of a stored script."
    if len(config.script_arguments) > MAX_ARGUMENTS:
        yield "script_arguments", f"Give at most {MAX_ARGUMENTS} arguments."
    if any("\0" in text for text in (*config.script_arguments, config.script_runas)):
        yield "script_arguments", "An argument must not contain a NUL character."


def _nested(config: NestedConfig) -> Faults:
    if not 0 < len(config.monitors) <= MAX_MEMBERS:
        yield "monitors", f"Give 1 to {MAX_MEMBERS} monitors."


def _address(config: TcpConfig | PingConfig | DnsConfig | TlsConfig) -> Faults:
    if not re.fullmatch(r"[A-Za-z0-9_.:%-]{1,253}", config.target):
        yield "target", "Give a host name or an address."


def _port(config: TcpConfig | TlsConfig) -> Faults:
    yield from _address(config)
    if not 0 < config.port < 65_536:
        yield "port", "Give 1 to 65535."


def _dns(config: DnsConfig) -> Faults:
    yield from _address(config)
    if config.record.upper() not in RECORDS:
        yield "record", f"Give one of {', '.join(RECORDS)}."


def _tls(config: TlsConfig) -> Faults:
    yield from _port(config)
    if not 0 <= config.days <= 3_650:
        yield "days", "Give 0 to 3650."


def _push(config: PushConfig) -> Faults:
    if not 0 <= config.grace <= 24 * 60 * MAX_TIMEOUT:
        yield "grace", "Give a number of milliseconds, 0 or more."


def _no_check(_: object) -> Faults:
    yield from ()


CHECKS: dict[MonitorType, Callable[[Any], Faults]] = {
    MonitorType.SCRAPER: _scraper,
    MonitorType.DSTAT: _dstat,
    MonitorType.HOST: _no_check,
    MonitorType.PROCESS: _process,
    MonitorType.FILE: _file,
    MonitorType.SCRIPT: _script,
    MonitorType.NESTED: _nested,
    MonitorType.TCP: _port,
    MonitorType.PING: _address,
    MonitorType.DNS: _dns,
    MonitorType.TLS: _tls,
    MonitorType.PUSH: _push,
}


def validate(type_: MonitorType, values: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a monitor of this type; raises Invalid with every wrong field."""
    try:
        config = msgspec.convert(values, CONFIGS[type_], strict=False)
    except msgspec.ValidationError as fault:
        reason, _, where = str(fault).partition(" - at `$")
        raise invalid_fields(
            [Fault(where.rstrip("`").lstrip(".") or "config", f"{reason}.")]
        ) from None
    faults = [Fault(field, message) for field, message in CHECKS[type_](config)]
    faults += [
        Fault(name, "Contains NUL or an unpaired surrogate, or is too long.")
        for name in _invalid_texts(config)
    ]
    timeout = getattr(config, "timeout", TIMEOUT)
    if not MIN_TIMEOUT <= timeout <= MAX_TIMEOUT:
        faults.append(Fault("timeout", f"Give {MIN_TIMEOUT} to {MAX_TIMEOUT} milliseconds."))
    if faults:
        raise invalid_fields(faults)
    builtins: dict[str, Any] = msgspec.to_builtins(config)
    return builtins


def _invalid_texts(config: msgspec.Struct) -> Iterator[str]:
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


def invalid_fields(faults: list[Fault]) -> Invalid:
    message = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
    return Invalid(message, code="invalid_body", faults=tuple(faults))
