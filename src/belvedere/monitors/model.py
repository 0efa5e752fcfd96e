"""What a monitor is."""

from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import DAY, MINUTE, SECOND, Millis

MIN_LOOPTIME, MAX_LOOPTIME = 1 * SECOND, 1 * DAY
LOOPTIME: Millis = 1 * MINUTE
MIN_TIMEOUT, MAX_TIMEOUT = 100, 5 * MINUTE
TIMEOUT: Millis = 10 * SECOND
FAIL_THRESHOLD, MAX_FAIL_THRESHOLD = 3, 100
# A check is silent after so many missed loops, and never before this.
MISSED_LOOPS = 3
LEAST_PATIENCE: Millis = 30 * SECOND


class Type(StrEnum):
    SCRAPER = "scraper"
    DSTAT = "dstat"
    HOST = "host"
    PROCESS = "process"
    FILE = "file"
    SCRIPT = "script"
    NESTED = "nested"
    TCP = "tcp"
    PING = "ping"
    DNS = "dns"
    TLS = "tls"
    PUSH = "push"

    @property
    def needs_host(self) -> bool:
        return self not in (Type.NESTED, Type.PUSH)

    @property
    def is_run_by_agent(self) -> bool:
        return self not in (Type.NESTED, Type.PUSH, Type.HOST)


class State(StrEnum):
    """Unknown: nobody has looked yet, or its host is down. Updates stopped: the agent is there, but
    this check is silent; of a host: its agent is gone."""

    UNKNOWN = "unknown"
    NORMAL = "normal"
    FAILURE = "failure"
    UPDATES_STOPPED = "updates_stopped"
    PAUSED = "paused"


class Severity(StrEnum):
    LOW = "LOW"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


KIND_NAMES = {
    Type.SCRAPER: "ScraperMonitor",
    Type.DSTAT: "DstatMonitor",
    Type.HOST: "HostMonitor",
    Type.PROCESS: "ProcessMonitor",
    Type.FILE: "FileMonitor",
    Type.SCRIPT: "ScriptMonitor",
    Type.NESTED: "NestedMonitor",
    Type.TCP: "TcpMonitor",
    Type.PING: "PingMonitor",
    Type.DNS: "DnsMonitor",
    Type.TLS: "TlsMonitor",
    Type.PUSH: "PushMonitor",
}


class MonitorRow(msgspec.Struct):
    """A row of `monitors`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    type: str
    host_id: str | None
    description: str
    tags: str
    severity: str
    looptime: Millis
    fail_threshold: int
    config: str
    config_version: int
    enabled: int
    paused_until: Millis | None
    alerts: int
    muted_until: Millis | None
    maintenance: str
    state: str
    state_at: Millis
    fails_count: int
    recovery_count: int
    is_failing: int
    flips: str
    is_flapping: int
    last_event: str
    checked_at: Millis | None
    due_at: Millis | None
    user_id: str
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.config)
        return found


def patience(row: MonitorRow) -> Millis:
    """For how long a check may say nothing before that is said."""
    timeout = row.settings.get("timeout") or 0
    loops = 1 if row.type == Type.PUSH else MISSED_LOOPS
    grace = row.settings.get("grace", 0)
    return int(max(loops * row.looptime, LEAST_PATIENCE if loops > 1 else 0) + timeout + grace)


def expect(row: MonitorRow, since: Millis) -> None:
    """From now on its silence counts."""
    row.due_at = None if row.type in (Type.HOST, Type.NESTED) else since + patience(row)
