"""The messages between the server and its agents.

One WebSocket per agent (`/-/agent`). A text frame is a JSON array of messages, each an object
with its `kind`; a binary frame carries output (`pack_output`) or the bytes of a script
(`pack_blob`). Only durations cross the wire, never a time of day. Plain dataclasses, so that the
agent needs nothing but the standard library to read them; the server decodes them with msgspec.

A connection starts with `Hello` from the agent and `Welcome` from the server; then both sides send
orders, output, results and heartbeats. What is not acknowledged is sent again after a reconnect.
"""

import struct
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1

# From the agent -----------------------------------------------------------------------------


@dataclass(slots=True)
class JournaledAttempt:
    """An attempt in the agent's journal that the server has not acknowledged yet."""

    fence: int
    # accepted or running, or ended with its report not yet acknowledged
    state: Literal["live", "ended"]
    # For a server whose database was restored and no longer contains the attempt.
    job_id: str = ""


@dataclass(slots=True)
class Hello:
    """The first message of an agent: its identity, its journal and the attempts in it."""

    hostname: str
    agent_version: str
    # Identifies the machine, not the boot: detects two machines that use one credential.
    fingerprint: str
    # A deleted or copied journal has another identity and proves nothing about older fences.
    journal_id: str
    boot_id: str
    slots: int
    entries: list[JournaledAttempt]
    # Increases with every Hello of this journal. A Hello that arrives after a later one (on an
    # abandoned connection) lacks what was accepted since, and must be ignored.
    greeting: int = 0
    # Whether that number is durable. Until it is, the agent accepts nothing: it may be used again.
    is_saved: bool = True
    # The highest fence that this journal has accepted. If it is below what the server has seen
    # accepted, the journal was rolled back (a restored snapshot) and proves nothing about the rest.
    highest: int = 0
    # Identifies the process that holds the journal in memory: after a journal was rolled back
    # together with the server's database, it is another one.
    keeper_id: str = ""
    # Whether the agent starts a new journal if the server rejects this Hello as stale.
    renews: bool = False
    # Whether the agent accepts lists of monitors in parts, and differences (`MonitorConfig`).
    takes_changes: bool = False
    # Why the agent's disk is not usable; it gets no jobs until a heartbeat reports that it is.
    disk: str = ""
    # Whether it accepts updates: pinned, unpinned (it has no key); and why the last one failed.
    updates: str = ""
    update_error: str = ""
    os_name: str = ""
    os_version: str = ""
    ip: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    protocol: int = VERSION
    # Whether the agent follows `Reconnect`.
    moves: bool = False
    # The newest fences that were dropped after their end was acknowledged: none may still be open.
    acknowledged: list[int] = field(default_factory=list)
    kind: Literal["hello"] = "hello"


@dataclass(slots=True)
class AttemptStarted:
    """The script's process runs. Sent for scripts that take more than a few dozen milliseconds."""

    fence: int
    ago_ms: int
    kind: Literal["started"] = "started"


@dataclass(slots=True)
class Report:
    """How an attempt ended, as its keeper recorded it."""

    # exit: it exited or was killed by someone else. timeout, canceled: the keeper ended it.
    # error: it could not be started (nothing ran). unknown: its end was not recorded.
    ending: Literal["exit", "timeout", "canceled", "error", "unknown"]
    code: int = 0
    signal: str | None = None
    elapsed_ns: int = 0
    # Why it could not start, or why the end is unknown: a code such as host_rebooted. With
    # disk_full nothing ran, and the job is queued again.
    reason: str = ""
    message: str = ""
    # The last line that is not empty, at most 256 KiB, invalid bytes replaced.
    lastline: str = ""
    # The complete output if it has at most INLINE_LOG bytes (then there are no output frames).
    log: str | None = None
    bytes_total: int = 0
    lines_total: int = 0
    # The hash of the complete output (after masking), in hex.
    sha256: str = ""
    # Processes that could not be killed.
    survivors: list[int] = field(default_factory=list)
    # [name, size] of each artifact; their contents are sent before the end.
    files: list[list[Any]] = field(default_factory=list)
    # [name, reason] of files that are not uploaded: link, folder, kind, name, size, count.
    files_skipped: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class AttemptEnded:
    """Sent after all output of the attempt, and repeated until `Ack`."""

    fence: int
    report: Report
    kind: Literal["ended"] = "ended"


@dataclass(slots=True)
class Heartbeat:
    """Heartbeat, every few seconds, with the attempts that are running."""

    live: list[int]
    # The number of the list of monitors that the agent has; -1: none on this connection.
    watch: int | None = None
    # Why the agent's disk is not usable, as in Hello; agents of earlier versions omit it.
    disk: str = ""
    kind: Literal["beat"] = "beat"


@dataclass(slots=True)
class BlobRequest:
    """Requests the content with this SHA-256."""

    sha256: str
    kind: Literal["want"] = "want"


@dataclass(slots=True)
class Sample:
    """The result of one check of a monitor."""

    monitor_id: str
    # The version of the configuration that was checked.
    version: int
    ago_ms: int
    state: Literal["normal", "failure", "changed"]
    event: str = ""  # a code such as scraper:mismatch:status_code
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    # The time series, by name: finite numbers only.
    measured: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Samples:
    """A batch of results, repeated until `SamplesAck`. The batches of a stream count from 1."""

    stream: str
    number: int
    samples: list[Sample]
    # How many results were dropped since the last batch because the buffer was full.
    dropped: int = 0
    kind: Literal["samples"] = "samples"


@dataclass(slots=True)
class MonitorConfigRequest:
    """A part of the list of monitors, or a difference, is missing: requests the complete list."""

    # The number of the list that the agent has; -1: none on this connection.
    number: int
    kind: Literal["watch_again"] = "watch_again"


# From the server ----------------------------------------------------------------------------


@dataclass(slots=True)
class Welcome:
    """The session is open. Orders of any other session must be ignored."""

    session: int
    host_id: str
    beat_ms: int
    # Bytes of output that may be sent before the server grants more.
    credit: int
    # For each running attempt: the position of the next byte of output that the server needs.
    resume: dict[str, int] = field(default_factory=dict)
    # Whether the server accepts artifacts of scripts.
    files: bool = False
    kind: Literal["welcome"] = "welcome"


@dataclass(slots=True)
class BlobArgument:
    """An argument that is a file: the agent writes it to the working folder and passes its path."""

    index: int
    sha256: str
    filename: str


@dataclass(slots=True)
class Order:
    """Permission to run one attempt, once."""

    session: int
    fence: int
    job_id: str
    sha256: str
    filename: str
    # The command, with `%script%`; empty: the shebang, or else bash.
    runas: list[str]
    arguments: list[str]
    env: dict[str, str]
    timeout_ms: int
    grace_ms: int = 5_000
    # Let background processes run on when the script itself exits normally.
    daemonize: bool = False
    # Run as this operating-system user, if the agent is allowed to.
    os_user: str = ""
    blobs: list[BlobArgument] = field(default_factory=list)
    # Values that are masked in output and report before they leave the host.
    masks: list[str] = field(default_factory=list)
    kind: Literal["order"] = "order"


@dataclass(slots=True)
class Cancel:
    """Stop the script (TERM, grace period, KILL) and report it as canceled."""

    fence: int
    kind: Literal["cancel"] = "cancel"


@dataclass(slots=True)
class Stop:
    """The attempt was superseded, or a person set its result: stop it and report nothing."""

    fence: int
    kind: Literal["stop"] = "stop"


@dataclass(slots=True)
class Ack:
    """These results are durable on the server; the agent may delete them."""

    fences: list[int]
    kind: Literal["ack"] = "ack"


@dataclass(slots=True)
class OutputAck:
    """Output up to this byte is durable on the server; the agent may delete it."""

    fence: int
    offset: int
    kind: Literal["kept"] = "kept"


@dataclass(slots=True)
class Credit:
    """The agent may send this many more bytes of output."""

    bytes: int
    kind: Literal["credit"] = "credit"


@dataclass(slots=True)
class BlobMissing:
    """The server has no bytes with this SHA-256."""

    sha256: str
    kind: Literal["missing"] = "missing"


@dataclass(slots=True)
class Refusal:
    """The last message before the server closes the connection: the reason."""

    code: str
    message: str
    kind: Literal["refusal"] = "refusal"


@dataclass(slots=True)
class Reconnect:
    """The server will stop: connect again after this time. Only for agents that have `moves`."""

    after_ms: int
    # The address of another server, for the next connection; empty: the agent's own address.
    server: str = ""
    kind: Literal["reconnect"] = "reconnect"


@dataclass(slots=True)
class MonitorCheck:
    """One check that the agent repeats."""

    id: str
    type: str
    version: int
    looptime_ms: int
    config: dict[str, Any]


@dataclass(slots=True)
class MonitorConfig:
    """The checks of this host. Without `since` it is the complete list, or a part of it: after the
    last part, the agent checks nothing else. A list with an older number is ignored.

    With `since` it is a difference for an agent whose list has exactly that number: it replaces or
    adds `monitors` and removes those in `removed`. An agent with another number responds with
    `MonitorConfigRequest`. Parts and differences need `takes_changes` in the Hello.
    """

    number: int
    monitors: list[MonitorCheck]
    since: int | None = None
    removed: list[str] = field(default_factory=list)
    # The parts of a complete list are numbered from 0.
    part: int = 0
    # Whether another part, or another difference, follows immediately.
    more: bool = False
    kind: Literal["watch"] = "watch"


@dataclass(slots=True)
class SamplesAck:
    """Samples of this stream up to this batch are durable on the server."""

    stream: str
    number: int
    kind: Literal["noted"] = "noted"


@dataclass(slots=True)
class UpdateOffer:
    """Another version of the agent, lower only with `downgrade`. `key`: if the agent has none."""

    version: str
    sha256: str
    size: int
    downgrade: bool = False
    signature: str = ""
    key: str = ""
    kind: Literal["update"] = "update"


FromAgent = (
    Hello | AttemptStarted | AttemptEnded | Heartbeat | BlobRequest | Samples | MonitorConfigRequest
)
_ForJobs = Welcome | Order | Cancel | Stop | Ack | OutputAck | Credit | BlobMissing | Refusal
FromServer = _ForJobs | Reconnect | MonitorConfig | SamplesAck | UpdateOffer

# Output up to this length is part of the report instead of separate frames.
INLINE_LOG = 16 * 1024
# The maximum length of output or script content in one binary frame.
CHUNK = 64 * 1024

_OUTPUT = struct.Struct(">BQQQ")
_BLOB = struct.Struct(">B32sB")
_FILE = struct.Struct(">BQHQ")
OUTPUT, BLOB, FILE = 1, 2, 3


def pack_output(fence: int, at_byte: int, at_line: int, data: bytes) -> bytes:
    """`at_line` is the number of newlines before `at_byte` in the complete output."""
    return _OUTPUT.pack(OUTPUT, fence, at_byte, at_line) + data


def unpack_output(frame: bytes) -> tuple[int, int, int, bytes]:
    _, fence, at_byte, at_line = _OUTPUT.unpack_from(frame)
    return fence, at_byte, at_line, frame[_OUTPUT.size :]


def pack_blob(sha256: str, data: bytes, *, last: bool) -> bytes:
    return _BLOB.pack(BLOB, bytes.fromhex(sha256), last) + data


def unpack_blob(frame: bytes) -> tuple[str, bytes, bool]:
    _, digest, last = _BLOB.unpack_from(frame)
    return digest.hex(), frame[_BLOB.size :], bool(last)


def pack_file(fence: int, number: int, at_byte: int, data: bytes) -> bytes:
    """A part of the file at the index `number` in the report's list."""
    return _FILE.pack(FILE, fence, number, at_byte) + data


def unpack_file(frame: bytes) -> tuple[int, int, int, bytes]:
    _, fence, number, at_byte = _FILE.unpack_from(frame)
    return fence, number, at_byte, frame[_FILE.size :]
