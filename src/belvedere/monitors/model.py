"""Types, states, severities and the row of a monitor."""

from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import DAY, MINUTE, SECOND, Millis

MIN_LOOPTIME, MAX_LOOPTIME = 1 * SECOND, 1 * DAY
LOOPTIME: Millis = 1 * MINUTE
MIN_TIMEOUT, MAX_TIMEOUT = 100, 5 * MINUTE
TIMEOUT: Millis = 10 * SECOND
FAIL_THRESHOLD, MAX_FAIL_THRESHOLD = 3, 100
# A check counts as silent after this number of missed loops, but never earlier than this time.
MISSED_LOOPS = 3
MIN_SILENCE_LIMIT: Millis = 30 * SECOND


class MonitorType(StrEnum):
    SCRAPER = "scraper"
    DSTAT = "dstat"
    HOST = "host"
    PROCESS = "process"
    FILE = "file"
    PSAUX = "psaux"
    SCRIPT = "script"
    NESTED = "nested"
    TCP = "tcp"
    PING = "ping"
    DNS = "dns"
    TLS = "tls"
    PUSH = "push"

    @property
    def needs_host(self) -> bool:
        return self not in (MonitorType.NESTED, MonitorType.PUSH)

    @property
    def is_run_by_agent(self) -> bool:
        return self not in (MonitorType.NESTED, MonitorType.PUSH, MonitorType.HOST)


class MonitorState(StrEnum):
    """Unknown: no result yet, or the host is down. Updates stopped: the agent is connected, but
    this check reports nothing; for a host monitor: its agent is disconnected."""

    UNKNOWN = "unknown"
    NORMAL = "normal"
    FAILURE = "failure"
    UPDATES_STOPPED = "updates_stopped"
    PAUSED = "paused"


class MonitorSeverity(StrEnum):
    LOW = "LOW"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


# In lists on the command line. The console has the same in ui/monitoring/text.ts.
TYPE_TITLES = {
    MonitorType.SCRAPER: "Web page",
    MonitorType.DSTAT: "Statistics",
    MonitorType.HOST: "Host",
    MonitorType.PROCESS: "Process",
    MonitorType.FILE: "File",
    MonitorType.PSAUX: "List of processes",
    MonitorType.SCRIPT: "Script",
    MonitorType.NESTED: "Group",
    MonitorType.TCP: "TCP port",
    MonitorType.PING: "Ping",
    MonitorType.DNS: "DNS",
    MonitorType.TLS: "Certificate",
    MonitorType.PUSH: "Push",
}
# A service that does not respond is down, which is shown in red unless its creator says otherwise.
SERVICE_TYPES = frozenset(
    {
        MonitorType.SCRAPER,
        MonitorType.TCP,
        MonitorType.PING,
        MonitorType.DNS,
        MonitorType.TLS,
    }
)
# The names that TheEye gives the types: ScraperMonitor.
KIND_NAMES = {type_: f"{type_.value.capitalize()}Monitor" for type_ in MonitorType}


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
        settings: dict[str, Any] = msgspec.json.decode(self.config)
        return settings


class _Waits(msgspec.Struct):
    """The members of a configuration that say how long a check may take. It is read for every
    result, and the others may be long."""

    timeout: float | None = None
    grace: float = 0


_waits = msgspec.json.Decoder(_Waits).decode


def silence_limit(row: MonitorRow) -> Millis:
    """How long a check may report nothing before the monitor goes to `updates_stopped`."""
    waits = _waits(row.config)
    loops = 1 if row.type == MonitorType.PUSH else MISSED_LOOPS
    least = MIN_SILENCE_LIMIT if loops > 1 else 0
    return int(max(loops * row.looptime, least) + (waits.timeout or 0) + waits.grace)


def set_due(row: MonitorRow, since: Millis) -> None:
    """Set the time by which the next result is expected."""
    row.due_at = (
        None if row.type in (MonitorType.HOST, MonitorType.NESTED) else since + silence_limit(row)
    )
