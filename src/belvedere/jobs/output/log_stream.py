"""A job's log over HTTP: as text, by range, or live as server-sent events."""

import asyncio
import codecs
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.services import Services
from belvedere.base.errors import Invalid, Refused, Unavailable
from belvedere.db import Tx
from belvedere.db.signals import log_written
from belvedere.jobs import permissions, store
from belvedere.jobs.attempts import attempts_for_job
from belvedere.jobs.model import JobRow
from belvedere.jobs.output import log_store

encode = msgspec.json.Encoder().encode
# Without a signal from the agent's server, the log is read this often.
POLL_S = 1.0
# Proxies close connections that are silent for a minute.
KEEPALIVE_S = 15.0


class LogSource(msgspec.Struct):
    """Where the log of one attempt is stored at this moment."""

    job: JobRow
    fence: int
    # The number of the attempt, from 1; 0 while there is none.
    number: int
    # Small logs are stored with the job or its attempt; None: read the log store.
    small: bytes | None
    result: dict[str, Any]

    @property
    def is_unknown(self) -> bool:
        """Whether the outcome is unknown, and so whether there was more output."""
        return self.result.get("ending") == "unknown"


def find_source(tx: Tx, actor: Actor, job_id: str, number: int | None) -> LogSource:
    """The log of one attempt, by default the newest."""
    job = permissions.require_visible(tx, actor, job_id)
    attempts = {row.number: row.fence for row in attempts_for_job(tx, job_id)}
    if number is not None and number not in attempts:
        raise Invalid(f"The job has no attempt {number}.", code="no_such_attempt")
    newest = max(attempts, default=0)
    chosen = newest if number is None else number
    fence = attempts.get(chosen, 0)
    text = tx.value("select report from attempts where fence = ?", fence)
    if text is not None:
        report = msgspec.json.decode(text)
        return LogSource(job, fence, chosen, _bytes(report.get("log")), report)
    details = store.read_details(tx, job.id)
    result = msgspec.json.decode(details.result) if details.result else {}
    return LogSource(job, fence, chosen, _bytes(details.log), result)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def is_ended(source: LogSource) -> bool:
    return source.job.is_over or source.job.fence != source.fence


async def find_log(services: Services, source: LogSource) -> log_store.Log | None:
    """Every byte is stored before the end of its attempt. If nothing is there, the file of the logs
    was lost, or restored from an older copy than that of the jobs."""
    log: log_store.Log | None = await services.logs.read(log_store.find, source.fence)
    if log is None and is_ended(source) and (size := reported_size(source)):
        return log_store.missing(source.fence, source.job.id, size)
    return log


def reported_size(source: LogSource) -> int:
    """Bytes of output, as the agent reported them with the end."""
    result = source.result
    return int(result.get("log_bytes", result.get("bytes_total", 0)) or 0)


async def find_end(services: Services, source: LogSource) -> int:
    """The end of the original stream at this moment."""
    if source.small is not None:
        return len(source.small)
    log = await find_log(services, source)
    return log.end if log is not None else 0


async def read_text(
    services: Services, source: LogSource, start: int, end: int
) -> AsyncIterator[bytes]:
    """Bytes of the original stream from `start` up to `end`, gaps marked. A script can write faster
    than its reader reads, so that a response without an end would never be complete. The log had
    this end when the request began: what is not stored up to there is missing."""
    if source.small is not None:
        yield source.small[start:end]
        return
    at = start
    while at < end:
        chunks = await services.logs.read(log_store.chunks, source.fence, at)
        if not chunks:
            yield await _mark_end(services, source, start, at, end)
            return
        for after, _, data in log_store.pieces(chunks, at):
            if at >= end:
                return
            yield _up_to(end, at, after, data)
            at = after


async def _mark_end(services: Services, source: LogSource, start: int, at: int, end: int) -> bytes:
    """The mark of bytes that are missing at the end."""
    if at > start and await services.logs.read(log_store.find, source.fence) is None:
        # The response must not look complete.
        raise Unavailable("The log was deleted while it was read.")
    return log_store.gap_text(at, end)


def _up_to(end: int, at: int, after: int, data: bytes) -> bytes:
    """The part of a piece before `end`; a mark of missing bytes stays readable."""
    if after <= end:
        return data
    if data == log_store.gap_text(at, after):
        return log_store.gap_text(at, end)
    return data[: len(data) - (after - end)]


async def _missing_end(services: Services, source: LogSource, at: int) -> log_store.Log | None:
    """The log, if its last bytes are missing: the quota of the organization was used up, or the
    agent's disk was full."""
    log = await find_log(services, source)
    return log if log is not None and log.end > at and is_ended(source) else None


async def stream(
    services: Services,
    actor: Actor,
    is_current: Callable[[], Awaitable[bool]],
    source: LogSource,
    number: int | None,
    current: int,
    at: int,
) -> AsyncIterator[bytes]:
    """Server-sent events: `output` with the next offset as id, `cut` before the mark of missing
    bytes, `attempt` when a retry begins, `end` with the totals. Without a number the stream
    continues with the next attempt. It stops without `end` when the reader loses access; a reader
    that connects again gets the reason."""
    changed = asyncio.Event()
    unsubscribe = [
        services.signals.subscribe(log_written(source.job.id), lambda _: changed.set()),
        await services.feed.listen(
            lambda events: (
                changed.set() if any(e.object_id == source.job.id for e in events) else None
            )
        ),
    ]
    idle_s = 0.0
    try:
        while True:
            changed.clear()
            newest = await _visible_source(services, actor, source.job.id, number)
            if newest is None or not await is_current():
                return
            if newest.number != current:
                async for event in _attempt_change(services, actor, newest, current, at):
                    yield event
                at, current = 0, newest.number
            start = at
            async for event, after in _new_output(services, newest, at):
                # Access may have ended while the output was read.
                visible = await _visible_source(services, actor, source.job.id, number)
                if visible is None or not await is_current():
                    return
                at = after
                yield event
            if is_ended(newest):
                yield await _end(services, newest, at)
                return
            idle_s = 0.0 if at > start else idle_s + POLL_S
            if idle_s >= KEEPALIVE_S:
                idle_s = 0.0
                yield b": still here\n\n"
            await _wait(changed)
    finally:
        for call in unsubscribe:
            call()


async def _visible_source(
    services: Services, actor: Actor, job_id: str, number: int | None
) -> LogSource | None:
    """None if the reader may no longer see the job, or if it was deleted."""
    try:
        source: LogSource = await services.db.read(find_source, actor, job_id, number)
    except Refused:
        return None
    return source


async def _attempt_change(
    services: Services, actor: Actor, newest: LogSource, old: int, at: int
) -> AsyncIterator[bytes]:
    """The rest of the previous attempt, then the event that another begins."""
    if old:
        before = await services.db.read(find_source, actor, newest.job.id, old)
        async for event, _ in _new_output(services, before, at):
            yield event
        data = encode({"number": newest.number})
        yield f"id: {_id(newest, 0)}\nevent: attempt\ndata: ".encode() + data + b"\n\n"


def _id(source: LogSource, after: int) -> str:
    """The next offset; for later attempts with their number, so that a client can resume."""
    return str(after) if source.number <= 1 else f"{source.number}/{after}"


async def _wait(changed: asyncio.Event) -> None:
    try:
        # Not wait_for, which may swallow a cancellation that comes with the signal.
        async with asyncio.timeout(POLL_S):
            await changed.wait()
    except TimeoutError:
        return


async def _new_output(
    services: Services, source: LogSource, at: int
) -> AsyncIterator[tuple[bytes, int]]:
    """Events for the output since `at`; a character that is split between chunks waits."""
    if source.small is not None:
        if at < len(source.small):
            end = len(source.small)
            yield _output(source, source.small[at:].decode("utf-8", "replace"), end), end
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    read = at
    while chunks := await services.logs.read(log_store.chunks, source.fence, read):
        for after, line, data in log_store.pieces(chunks, read):
            if data == log_store.gap_text(read, after):
                yield _cut(read, after, line), at
            text = decoder.decode(data)
            read, at = after, after - len(decoder.getstate()[0])
            if text:
                yield _output(source, text, at), at
    if is_ended(source) and (rest := decoder.decode(b"", final=True)):
        yield _output(source, rest, read), read
    if (gap := await _missing_end(services, source, read)) is not None:
        yield _cut(read, gap.end, gap.lines), read
        missing = log_store.gap_text(read, gap.end).decode()
        yield _output(source, missing, gap.end), gap.end


def _cut(start: int, end: int, line: int) -> bytes:
    """Before the mark of missing bytes: their range, and the number of lines before what follows.
    Without an id, so that a client that resumes between the two events gets both again."""
    data = encode({"from": start, "to": end, "line": line})
    return b"event: cut\ndata: " + data + b"\n\n"


def _output(source: LogSource, text: str, after: int) -> bytes:
    return f"id: {_id(source, after)}\nevent: output\ndata: ".encode() + encode(text) + b"\n\n"


async def _end(services: Services, source: LogSource, at: int) -> bytes:
    log = await find_log(services, source)
    result = source.result
    total = result.get("log_bytes", result.get("bytes_total", log.bytes_seen if log else 0))
    bytes_kept = len(source.small) if source.small is not None else (log.bytes_kept if log else 0)
    is_empty = total == 0 and not source.is_unknown
    data = {
        "lifecycle": source.job.lifecycle,
        "state": source.job.state,
        "bytes": total,
        "kept": min(bytes_kept, total) if total else bytes_kept,
        "sha256": result.get("log_sha256", result.get("sha256", "")),
        "complete": source.small is not None or bool(log and log.is_complete) or is_empty,
    }
    return f"id: {_id(source, at)}\nevent: end\ndata: ".encode() + encode(data) + b"\n\n"
