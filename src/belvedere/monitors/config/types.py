"""Configuration of each type of monitor: one struct per type."""

import msgspec

from belvedere.base.clock import Millis
from belvedere.monitors.model import TIMEOUT, MonitorType


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
    permissions: str = ""
    os_username: str = ""
    os_groupname: str = ""
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


CONFIGS: dict[MonitorType, type[msgspec.Struct]] = {
    MonitorType.SCRAPER: ScraperConfig,
    MonitorType.DSTAT: DstatConfig,
    MonitorType.HOST: HostConfig,
    MonitorType.PROCESS: ProcessConfig,
    MonitorType.FILE: FileConfig,
    MonitorType.SCRIPT: ScriptConfig,
    MonitorType.NESTED: NestedConfig,
    MonitorType.TCP: TcpConfig,
    MonitorType.PING: PingConfig,
    MonitorType.DNS: DnsConfig,
    MonitorType.TLS: TlsConfig,
    MonitorType.PUSH: PushConfig,
}
