"""What the parts of an agent's connection share: the kinds of its messages, their limits (a
connection that exceeds them is closed), and what they use of the connection."""

from collections.abc import Coroutine
from typing import Any, Protocol

import msgspec

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.jobs.output.artifacts import MAX_FILES
from belvedere.monitors.evaluation import rollups, samples
from belvedere.protocol import (
    AttemptEnded,
    AttemptStarted,
    BlobRequest,
    FromServer,
    Heartbeat,
    Hello,
    MonitorConfigRequest,
    Report,
    Sample,
    Samples,
)
from belvedere.server.runtime import ServerRuntime

encode = msgspec.json.Encoder().encode
# Built once: msgspec.json.decode(..., type=...) would analyse the type in every call.
decode = msgspec.json.Decoder(list[dict[str, Any]]).decode

# Larger than any fence, size or duration; still fits the columns of both engines.
MAX_NUMBER = 2**62
# Messages in one frame, and open attempts in one hello.
MAX_MESSAGES = 10_000
MAX_ENTRIES = 10_000
# Characters. An agent sends output of up to 16 KiB inside its report.
MAX_LOG = 64 * 1024
MAX_LASTLINE = 256 * 1024
MAX_MESSAGE = 4_000
MAX_WORD = 200
# Processes that survived, and files that were left behind on the host.
MAX_SURVIVORS = 1_000
MAX_SKIPPED = 100
# Samples in one batch, and batches that wait to be written. An agent sends 200, and 4 at a time.
MAX_SAMPLES = 1_000
MAX_BATCHES = 16
# Bytes of `data` in one batch. More is dropped, not refused: an older agent sends up to 64 KiB with
# each sample, and its states must not be lost.
MAX_DATA = 1 << 20
# Bytes of the batches that wait to be written; an agent within the limits above needs half of it.
MAX_WAITING = 16 << 20
# Overhead of a sample, and of each of its numbers, besides the texts.
SAMPLE_BYTES = 100
# Values in one frame; counted only in a large one.
MAX_VALUES = 200_000
LARGE_FRAME = 256 * 1024


SHAPES: dict[str, type] = {
    "hello": Hello,
    "started": AttemptStarted,
    "ended": AttemptEnded,
    "beat": Heartbeat,
    "want": BlobRequest,
    "samples": Samples,
    "watch_again": MonitorConfigRequest,
}


class AgentPeer(Protocol):
    """The connected agent, as the parts of its connection see it; connection.py implements it.

    A protocol and not the class itself, because the connection is built from these parts.
    """

    runtime: ServerRuntime
    host_id: str
    customer_id: str
    # Fences of open attempts, with their jobs.
    jobs: dict[int, str]

    def push(self, *messages: FromServer) -> None:
        """Send messages with the next frame."""

    def wake(self) -> None:
        """There is something to send that is not in the outbox."""

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run it until the connection ends; its failure closes the connection."""

    def close(self, code: int, reason: str) -> None:
        """Close the connection after what waits to be sent."""


class CloseConnection(Exception):
    """The connection must be closed; the agent gets the code and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def check_numbers(*numbers: int) -> None:
    """A number that no agent can mean must not reach the database: it would be an internal error,
    and the agent would reconnect and send it again forever."""
    if numbers and not 0 <= min(numbers) <= max(numbers) < MAX_NUMBER:
        raise CloseConnection(4400, "A number is out of range.")


def messages_in(frame: str | bytes) -> list[dict[str, Any]]:
    """The messages of a text frame; ValidationError for anything else."""
    check_values(frame)
    return check_messages(decode(frame))


def message_of(raw: dict[str, Any]) -> object | None:
    """The message of an agent; None for a kind that this version does not know."""
    kind = raw.get("kind", "")
    shape = SHAPES.get(kind) if isinstance(kind, str) else None
    return None if shape is None else msgspec.convert(raw, shape)


def check_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(messages) > MAX_MESSAGES:
        raise CloseConnection(4400, f"A frame has more than {MAX_MESSAGES} messages.")
    return messages


def check_hello(hello: Hello) -> None:
    if len(hello.entries) > MAX_ENTRIES:
        raise CloseConnection(4400, f"A hello names more than {MAX_ENTRIES} attempts.")
    if len(hello.acknowledged) > MAX_ENTRIES:
        raise CloseConnection(4400, f"A hello names more than {MAX_ENTRIES} acknowledged fences.")
    check_numbers(hello.greeting, *(entry.fence for entry in hello.entries))


def check_values(frame: str | bytes) -> None:
    """Refuse a frame whose decoded values would take many times its size, before decoding it."""
    if len(frame) <= LARGE_FRAME:
        return
    try:
        json_text.check_elements(frame if isinstance(frame, str) else frame.decode(), MAX_VALUES)
    except Invalid:
        raise CloseConnection(4400, f"A frame has more than {MAX_VALUES} values.") from None


def check_samples(batch: Samples) -> int:
    """The bytes of a batch, after cutting its texts as the store would cut them."""
    if len(batch.samples) > MAX_SAMPLES:
        raise CloseConnection(4400, f"A batch has more than {MAX_SAMPLES} samples.")
    check_numbers(batch.number, batch.dropped)
    batch.stream = batch.stream[:MAX_WORD]
    size, room = 0, MAX_DATA
    for sample in batch.samples:
        data_bytes = len(encode(sample.data)) if sample.data else 0
        if data_bytes > min(room, samples.MAX_DATA):
            sample.data, data_bytes = {}, 0
        room -= data_bytes
        size += data_bytes + _cut_sample(sample)
    return size


def _cut_sample(sample: Sample) -> int:
    """Its bytes without `data`, in characters."""
    # PostgreSQL refuses a list of ids with a NUL in it.
    sample.monitor_id = json_text.clean(sample.monitor_id[:MAX_WORD])
    sample.event = sample.event[: samples.MAX_EVENT_NAME]
    sample.message = sample.message[: rollups.MAX_MESSAGE]
    sample.measured = rollups.valid_metrics(sample.measured)
    texts = (sample.monitor_id, sample.event, sample.message, *sample.measured)
    return SAMPLE_BYTES * (1 + len(sample.measured)) + sum(map(len, texts))


def check_report(report: Report) -> None:
    """Numbers must be valid; long texts are cut, because the end itself must not be lost."""
    check_numbers(report.bytes_total, report.lines_total, report.elapsed_ns, abs(report.code))
    report.reason = json_text.clean(report.reason[:MAX_WORD])
    if report.log is not None and len(report.log) > MAX_LOG:
        report.log = report.log[:MAX_LOG]
    if len(report.lastline) > MAX_LASTLINE:
        report.lastline = report.lastline[-MAX_LASTLINE:]
    if report.message or report.signal or report.survivors or report.files or report.files_skipped:
        _cut(report)
    if len(report.sha256) > MAX_WORD:
        report.sha256 = ""


def _cut(report: Report) -> None:
    report.message = json_text.clean(report.message[:MAX_MESSAGE])
    if report.signal is not None:
        report.signal = json_text.clean(report.signal[:MAX_WORD])
    survivors = [number for number in report.survivors[:MAX_SURVIVORS] if 0 <= number < MAX_NUMBER]
    report.survivors = survivors
    report.files = report.files[:MAX_FILES]
    skipped = [pair for pair in report.files_skipped[:MAX_SKIPPED] if len(pair) == 2]
    report.files_skipped = [[name[:MAX_WORD], reason[:MAX_WORD]] for name, reason in skipped]
