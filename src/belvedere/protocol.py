"""The shapes on the wire between the server and its agents.

One WebSocket per agent (`/-/agent`). A text frame is a JSON array of messages, each an object
with its `kind`; a binary frame carries output (`pack_output`) or the bytes of a script
(`pack_blob`). Only durations cross the wire, never a time of day. Plain dataclasses, so that the
agent needs nothing but the standard library to read them; the server decodes them with msgspec.

A connection, in order: agent `Hello`; server `Welcome`; then orders, output, ends and beats as
they come. Whatever is not acknowledged is sent again on the next connection.
"""

import struct
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1

# From the agent -----------------------------------------------------------------------------


@dataclass(slots=True)
class Entry:
    """One fence in the agent's journal that the server has not acknowledged yet."""

    fence: int
    # accepted or running, or ended with its report on the way
    state: Literal["live", "ended"]
    # For a server whose database was restored and does not know the fence any more.
    job_id: str = ""


@dataclass(slots=True)
class Hello:
    """The first message: who speaks, with which journal, and what it holds."""

    hostname: str
    agent_version: str
    # The machine (not the boot): two machines with one credential are told apart by it.
    fingerprint: str
    # A wiped or copied journal has another identity and proves nothing about older fences.
    journal_id: str
    boot_id: str
    slots: int
    entries: list[Entry]
    # Grows with every Hello of this journal. One that arrives behind its successor (on a connection
    # that was given up) knows nothing of what was accepted since, and must not count.
    greeting: int = 0
    # Whether that number is durable. One that is not is forgotten in a reboot and said again; the
    # agent accepts nothing until it has said hello with one that is.
    is_saved: bool = True
    # The highest fence that this journal has accepted. A journal that was rolled back (a restored
    # snapshot) knows less than the server has seen it accept, and proves nothing about the rest.
    highest: int = 0
    # Names the process that holds the journal in memory, for as long as it runs: a journal that was
    # rolled back together with the server's database has another one.
    keeper_id: str = ""
    # Whether the agent starts a new journal when it hears that this hello is a stale one.
    renews: bool = False
    # Whether the agent takes lists of monitors in parts, and differences between them (`Watch`).
    takes_changes: bool = False
    # What the agent's disk lacks; it gets no work until a beat says that nothing does.
    disk: str = ""
    os_name: str = ""
    os_version: str = ""
    ip: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    protocol: int = VERSION
    kind: Literal["hello"] = "hello"


@dataclass(slots=True)
class Started:
    """The script's process runs. Sent for scripts that outlive a few dozen milliseconds."""

    fence: int
    ago_ms: int
    kind: Literal["started"] = "started"


@dataclass(slots=True)
class Report:
    """How an attempt ended, as its keeper saw it."""

    # exit: ended by itself or by a signal of others. timeout, canceled: we ended it.
    # error: it could not be started (certain that nothing ran). unknown: no trace of its end.
    ending: Literal["exit", "timeout", "canceled", "error", "unknown"]
    code: int = 0
    signal: str | None = None
    elapsed_ns: int = 0
    # Why it could not start, or why the end is unknown: a word such as host_rebooted. With
    # disk_full nothing ran, and the job goes back to its queue.
    reason: str = ""
    message: str = ""
    # The last line with anything on it, at most 256 KiB, invalid bytes replaced.
    lastline: str = ""
    # The whole output when it is at most INLINE_LOG bytes (then no output frames are needed).
    log: str | None = None
    bytes_total: int = 0
    lines_total: int = 0
    # Of the stream as produced (after masking), in hex.
    sha256: str = ""
    # Processes that would not die.
    survivors: list[int] = field(default_factory=list)
    # [name, size] of each file that it left for the server; their bytes come before the end.
    files: list[list[Any]] = field(default_factory=list)
    # [name, why] of some that it left and that do not go: link, folder, kind, name, size, count.
    files_skipped: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Ended:
    """Sent after all output of the fence, again and again until `Ack`."""

    fence: int
    report: Report
    kind: Literal["ended"] = "ended"


@dataclass(slots=True)
class Beat:
    """Every few seconds: I am here, and these fences are live."""

    live: list[int]
    # The number of the list of monitors that the agent has; -1: none on this connection.
    watch: int | None = None
    # What the agent's disk lacks, as in Hello; agents of earlier versions say nothing.
    disk: str = ""
    kind: Literal["beat"] = "beat"


@dataclass(slots=True)
class Want:
    """Send me the bytes with this SHA-256."""

    sha256: str
    kind: Literal["want"] = "want"


@dataclass(slots=True)
class Sample:
    """What one check of a monitor saw."""

    monitor_id: str
    # Of the configuration that was checked.
    version: int
    ago_ms: int
    state: Literal["normal", "failure", "changed"]
    # A word for what happened, such as scraper:mismatch:status_code, and a sentence.
    event: str = ""
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    # What is kept over time, by name: finite numbers only.
    measured: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Samples:
    """A batch, again and again until `Noted`. Batches of one stream are numbered from 1."""

    stream: str
    number: int
    samples: list[Sample]
    # How many were dropped for want of room since the last batch.
    dropped: int = 0
    kind: Literal["samples"] = "samples"


@dataclass(slots=True)
class WatchAgain:
    """A part of the list of monitors, or a difference, did not arrive: send the whole list."""

    # Of the list that the agent has; -1: none on this connection.
    number: int
    kind: Literal["watch_again"] = "watch_again"


# From the server ----------------------------------------------------------------------------


@dataclass(slots=True)
class Welcome:
    """The session is open. Orders of any other session must be dropped."""

    session: int
    host_id: str
    beat_ms: int
    # Bytes of output that may be sent before the server grants more.
    credit: int
    # For each live fence: the next byte of output that the server lacks.
    resume: dict[str, int] = field(default_factory=dict)
    # Whether the server takes files that scripts leave behind.
    files: bool = False
    kind: Literal["welcome"] = "welcome"


@dataclass(slots=True)
class BlobArgument:
    """An argument that is a file: the agent writes it into the working folder, passes the path."""

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
    # Words before the script, `%script%` among them; empty: the shebang, else bash.
    runas: list[str]
    arguments: list[str]
    env: dict[str, str]
    timeout_ms: int
    grace_ms: int = 5_000
    # Leave background children alive when the script itself ends normally.
    daemonize: bool = False
    # Run as this operating-system user, where the agent has the right.
    os_user: str = ""
    blobs: list[BlobArgument] = field(default_factory=list)
    # Values that must not leave the host in any form, in output and report.
    masks: list[str] = field(default_factory=list)
    kind: Literal["order"] = "order"


@dataclass(slots=True)
class Cancel:
    """Stop it: TERM, the grace, KILL; report the end as canceled."""

    fence: int
    kind: Literal["cancel"] = "cancel"


@dataclass(slots=True)
class Stop:
    """Superseded or settled by a person: stop what still runs, report nothing, forget it."""

    fence: int
    kind: Literal["stop"] = "stop"


@dataclass(slots=True)
class Ack:
    """These ends are durable on the server; the agent may forget them."""

    fences: list[int]
    kind: Literal["ack"] = "ack"


@dataclass(slots=True)
class Kept:
    """Output up to this byte is durable on the server; the spool below may go."""

    fence: int
    offset: int
    kind: Literal["kept"] = "kept"


@dataclass(slots=True)
class Credit:
    """That many more bytes of output may be sent."""

    bytes: int
    kind: Literal["credit"] = "credit"


@dataclass(slots=True)
class Missing:
    """The server has no bytes with this SHA-256."""

    sha256: str
    kind: Literal["missing"] = "missing"


@dataclass(slots=True)
class Refusal:
    """The last message before the server closes: why it will not talk."""

    code: str
    message: str
    kind: Literal["refusal"] = "refusal"


@dataclass(slots=True)
class Watched:
    """One check that the agent shall make again and again."""

    id: str
    type: str
    version: int
    looptime_ms: int
    config: dict[str, Any]


@dataclass(slots=True)
class Watch:
    """What this host checks. Without `since` it is the whole list, or a part of it: nothing else is
    checked once its last part has come. A list with an older number is dropped.

    With `since` it is a difference for an agent whose list has exactly that number: it replaces or
    adds `monitors` and drops those in `removed`. An agent with another number says `WatchAgain`.
    Parts and differences go only to agents whose hello has `takes_changes`.
    """

    number: int
    monitors: list[Watched]
    since: int | None = None
    removed: list[str] = field(default_factory=list)
    # The parts of a whole list are numbered from 0.
    part: int = 0
    # Whether another part, or another difference, follows at once.
    more: bool = False
    kind: Literal["watch"] = "watch"


@dataclass(slots=True)
class Noted:
    """Samples of this stream up to this batch are durable on the server."""

    stream: str
    number: int
    kind: Literal["noted"] = "noted"


FromAgent = Hello | Started | Ended | Beat | Want | Samples | WatchAgain
FromServer = (
    Welcome | Order | Cancel | Stop | Ack | Kept | Credit | Missing | Refusal | Watch | Noted
)

# Output at most this long travels inside the report instead of in frames of its own.
INLINE_LOG = 16 * 1024
# The longest piece of output or script in one binary frame.
CHUNK = 64 * 1024

_OUTPUT = struct.Struct(">BQQQ")
_BLOB = struct.Struct(">B32sB")
_FILE = struct.Struct(">BQHQ")
OUTPUT, BLOB, FILE = 1, 2, 3


def pack_output(fence: int, at_byte: int, at_line: int, data: bytes) -> bytes:
    """`at_line` is the number of newlines before `at_byte` in the stream as produced."""
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
    """A piece of the file that stands at `number` in the report's list, from 0."""
    return _FILE.pack(FILE, fence, number, at_byte) + data


def unpack_file(frame: bytes) -> tuple[int, int, int, bytes]:
    _, fence, number, at_byte = _FILE.unpack_from(frame)
    return fence, number, at_byte, frame[_FILE.size :]
