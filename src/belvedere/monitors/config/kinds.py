"""The types of monitors: the configuration of each, and its validation."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from belvedere.base.clock import Millis
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.base.text.regex_syntax import parse_pattern
from belvedere.monitors.model import MAX_TIMEOUT, TIMEOUT, MonitorType

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
RECORDS = ("A", "AAAA")
MAX_URL = 4_096
MAX_HEADERS = 50
MAX_JSON_PATH = 1_000
MAX_MEMBERS = 500
MAX_ARGUMENTS = 100
MAX_ACCOUNT_NAME = 256
# Bytes; the limit of common file systems.
MAX_FILENAME = 255
# The mode of a maintained file, unless the monitor has another.
DEFAULT_MODE = "0644"

Faults = Iterator[tuple[str, str]]


class HostConfig(msgspec.Struct):
    """Host monitors have no configuration."""


class ScraperConfig(msgspec.Struct):
    """A web request whose response is compared with expectations."""

    url: str = ""
    timeout: Millis = TIMEOUT
    # A regular expression that must match the complete status; empty: any status below 400.
    status_code: str = ""
    # A regular expression that must match somewhere in the response.
    pattern: str = ""
    # `$.a.b[0]` in a JSON response, and the expected value there.
    json_path: str = ""
    json_value: str | None = None
    # Milliseconds after which a response counts as a failure; 0: only the timeout does.
    max_ms: int = 0
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""
    gzip: bool = False
    json: bool = False
    parser: str = ""


class DstatLimits(msgspec.Struct):
    """Percent."""

    cpu: float = 90
    mem: float = 90
    cache: float = 90
    disk: float = 90


class DstatConfig(msgspec.Struct):
    limit: DstatLimits = msgspec.field(default_factory=DstatLimits)
    timeout: Millis = TIMEOUT


class ProcessConfig(msgspec.Struct):
    """Processes whose command line contains a text, or matches a regular expression."""

    raw_search: str = ""
    is_regexp: bool = False
    least: int = 1
    most: int | None = None
    timeout: Millis = TIMEOUT


class FileConfig(msgspec.Struct):
    """A file that must exist with this owner and mode; `changed` when its content changes."""

    path: str = ""
    # The id of a stored file: the agent writes its content to the path whenever it differs.
    file: str = ""
    permissions: str = ""
    os_username: str = ""
    os_groupname: str = ""
    timeout: Millis = TIMEOUT


class PsauxConfig(msgspec.Struct):
    """The processes of the host, as admins can read them."""

    timeout: Millis = TIMEOUT


class ScriptConfig(msgspec.Struct):
    """A stored script; its exit code and its last line are the result."""

    script_id: str = ""
    script_arguments: list[str] = []
    script_runas: str = ""
    timeout: Millis = TIMEOUT


class NestedConfig(msgspec.Struct):
    """Normal if all members are normal."""

    monitors: list[str] = []


class TcpConfig(msgspec.Struct):
    """A port that must accept connections."""

    target: str = ""
    port: int = 0
    timeout: Millis = TIMEOUT


class PingConfig(msgspec.Struct):
    target: str = ""
    timeout: Millis = TIMEOUT


class DnsConfig(msgspec.Struct):
    """A name that must resolve; with `address`, to that address."""

    target: str = ""
    record: str = "A"
    address: str = ""
    timeout: Millis = TIMEOUT


class TlsConfig(msgspec.Struct):
    """A certificate that must be valid for at least this number of days."""

    target: str = ""
    port: int = 443
    days: int = 14
    timeout: Millis = TIMEOUT


class PushConfig(msgspec.Struct):
    """A URL that must be called once per looptime; `grace` is the allowed delay."""

    grace: Millis = 0


def _scraper(config: ScraperConfig) -> Faults:
    yield from _url(config.url)
    for name in ("status_code", "pattern"):
        yield from _pattern(name, getattr(config, name))
    if len(config.json_path) > MAX_JSON_PATH:
        yield "json_path", f"At most {MAX_JSON_PATH} characters are allowed."
    elif config.json_path and not re.fullmatch(r"\$(\.[\w-]+|\[\d+\])*", config.json_path):
        yield "json_path", "Must be a path such as $.status or $.items[0].name."
    if config.json_value is not None and not config.json_path:
        yield "json_value", "Set json_path too: it is the position of the value in the response."
    if config.method.upper() not in METHODS:
        yield "method", f"Must be one of {', '.join(METHODS)}."
    if not 0 <= config.max_ms <= MAX_TIMEOUT:
        yield "max_ms", f"Must be 0 to {MAX_TIMEOUT} milliseconds."
    if config.parser not in ("", "pattern"):
        yield (
            "parser",
            "Only `pattern` is supported; to run a script, use a monitor of type script.",
        )
    if len(config.headers) > MAX_HEADERS:
        yield "headers", f"At most {MAX_HEADERS} headers are allowed."
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
        yield "url", "Must be an absolute URL, http://… or https://…"


def _pattern(name: str, text: str) -> Faults:
    try:
        parse_pattern(text)
    except Invalid as error:
        yield name, error.message


def _dstat(config: DstatConfig) -> Faults:
    for name in DstatLimits.__struct_fields__:
        if not 0 < getattr(config.limit, name) <= 100:
            yield name, "Must be a percentage above 0, at most 100."


def _process(config: ProcessConfig) -> Faults:
    if not config.raw_search or not _is_line(config.raw_search):
        yield "raw_search", "Set the text to search for in command lines."
    if config.is_regexp:
        yield from _pattern("raw_search", config.raw_search)
    if config.least < 0 or (config.most is not None and config.most < config.least):
        yield "least", "Must not be larger than `most`."


def _file(config: FileConfig) -> Faults:
    if not config.path.startswith("/") or "\0" in config.path or len(config.path) > 4_096:
        yield "path", "Must be an absolute path."
    if config.permissions and not re.fullmatch("[0-7]{3,4}", config.permissions):
        yield "permissions", "Must be octal digits such as 0644."
    for name in ("os_username", "os_groupname"):
        if len(getattr(config, name)) > MAX_ACCOUNT_NAME or not _is_line(getattr(config, name)):
            yield name, "Must be the name or the number of an account."
    if config.file:
        yield from _maintained_file(config)


def _maintained_file(config: FileConfig) -> Faults:
    if not is_id(config.file):
        yield "file", "Must be the id of a stored file."
    parts = config.path.split("/")[1:]
    if any(part in ("", ".", "..") or _bytes(part) > MAX_FILENAME for part in parts):
        yield "path", "Must be the path of a file, without empty parts, `.` and `..`."


def _script(config: ScriptConfig) -> Faults:
    if not is_id(config.script_id):
        yield "script_id", "Must be the id of a stored script."
    if len(config.script_arguments) > MAX_ARGUMENTS:
        yield "script_arguments", f"At most {MAX_ARGUMENTS} arguments are allowed."
    if any("\0" in text for text in (*config.script_arguments, config.script_runas)):
        yield "script_arguments", "An argument must not contain a NUL character."


def _nested(config: NestedConfig) -> Faults:
    if not 0 < len(config.monitors) <= MAX_MEMBERS:
        yield "monitors", f"Must have 1 to {MAX_MEMBERS} monitors."


def _address(config: TcpConfig | PingConfig | DnsConfig | TlsConfig) -> Faults:
    if not re.fullmatch(r"[A-Za-z0-9_.:%-]{1,253}", config.target):
        yield "target", "Must be a host name or an address."


def _port(config: TcpConfig | TlsConfig) -> Faults:
    yield from _address(config)
    if not 0 < config.port < 65_536:
        yield "port", "Must be 1 to 65535."


def _dns(config: DnsConfig) -> Faults:
    yield from _address(config)
    if config.record.upper() not in RECORDS:
        yield "record", f"Must be one of {', '.join(RECORDS)}."


def _tls(config: TlsConfig) -> Faults:
    yield from _port(config)
    if not 0 <= config.days <= 3_650:
        yield "days", "Must be 0 to 3650."


def _push(config: PushConfig) -> Faults:
    if not 0 <= config.grace <= 24 * 60 * MAX_TIMEOUT:
        yield "grace", "Must be a number of milliseconds, 0 or more."


def _no_check(_: object) -> Faults:
    yield from ()


def _bytes(text: str) -> int:
    # Unpaired surrogates are refused later, with the other texts.
    return len(text.encode("utf-8", "surrogatepass"))


def _is_line(text: str) -> bool:
    return text.isprintable() and len(text) <= 4_096


class MonitorKind(NamedTuple):
    config: type[msgspec.Struct]
    # Yields the wrong fields of a configuration, each with a sentence.
    check: Callable[[Any], Faults]


MONITOR_KINDS: dict[MonitorType, MonitorKind] = {
    MonitorType.SCRAPER: MonitorKind(ScraperConfig, _scraper),
    MonitorType.DSTAT: MonitorKind(DstatConfig, _dstat),
    MonitorType.HOST: MonitorKind(HostConfig, _no_check),
    MonitorType.PROCESS: MonitorKind(ProcessConfig, _process),
    MonitorType.FILE: MonitorKind(FileConfig, _file),
    MonitorType.PSAUX: MonitorKind(PsauxConfig, _no_check),
    MonitorType.SCRIPT: MonitorKind(ScriptConfig, _script),
    MonitorType.NESTED: MonitorKind(NestedConfig, _nested),
    MonitorType.TCP: MonitorKind(TcpConfig, _port),
    MonitorType.PING: MonitorKind(PingConfig, _address),
    MonitorType.DNS: MonitorKind(DnsConfig, _dns),
    MonitorType.TLS: MonitorKind(TlsConfig, _tls),
    MonitorType.PUSH: MonitorKind(PushConfig, _push),
}
