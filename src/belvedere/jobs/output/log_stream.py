"""A job's log over HTTP: as text, by range, or live as server-sent events."""

import asyncio
import codecs
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.services import Services
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.db.signals import log_written
from belvedere.jobs import permissions, store
from belvedere.jobs.attempts import attempts_of
from belvedere.jobs.model import JobRow
from belvedere.jobs.output import log_store as joblog

encode = msgspec.json.Encoder().encode
# Without a ring from the agent's own server: this often a look.
LOOK_S = 1.0
# Proxies close what is silent for a minute.
PULSE_S = 15.0


class Source(msgspec.Struct):
    """Where the log of one attempt comes from at this moment."""

    job: JobRow
    fence: int
    # Of the attempt, from 1; 0 while there is none.
    number: int
    # Small logs lie beside the job or its attempt; None: look into the log store.
    small: bytes | None
    result: dict[str, Any]

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows how the attempt ended, and so whether it wrote more."""
        return self.result.get("ending") == "unknown"


def source(tx: Tx, actor: Actor, job_id: str, number: int | None) -> Source:
    """The log of one attempt, the newest unless told."""
    job = permissions.to_see(tx, actor, job_id)
    attempts = {row.number: row.fence for row in attempts_of(tx, job_id)}
    if number is not None and number not in attempts:
        raise Invalid(f"The job has no attempt {number}.", code="no_such_attempt")
    newest = max(attempts, default=0)
    wanted = newest if number is None else number
    fence = attempts.get(wanted, 0)
    kept = tx.value("select report from attempts where fence = ?", fence)
    if kept is not None:
        report = msgspec.json.decode(kept)
        return Source(job, fence, wanted, _bytes(report.get("log")), report)
    heavy = store.heavy(tx, job.id)
    result = msgspec.json.decode(heavy.result) if heavy.result else {}
    return Source(job, fence, wanted, _bytes(heavy.log), result)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def is_ended(found: Source) -> bool:
    return found.job.is_over or found.job.fence != found.fence


async def text(
    services: Services, found: Source, start: int, end: int | None
) -> AsyncIterator[bytes]:
    """Bytes of the stream as produced from `start` up to `end`, cuts marked."""
    if found.small is not None:
        yield found.small[start:end]
        return
    at = start
    while end is None or at < end:
        chunks = await services.logs.read(joblog.chunks, found.fence, at)
        if not chunks:
            if (gap := await _dropped(services, found, at)) is not None:
                yield joblog.mark(at, gap.end if end is None else min(end, gap.end))
            return
        for after, _, data in joblog.pieces(chunks, at):
            if end is not None and at >= end:
                return
            yield data if end is None or after <= end else data[: len(data) - (after - end)]
            at = after


async def _dropped(services: Services, found: Source, at: int) -> joblog.Log | None:
    """The log, where its last bytes are missing: the organization had no room for them, or the
    agent's disk was full."""
    log: joblog.Log | None = await services.logs.read(joblog.find, found.fence)
    return log if log is not None and log.end > at and is_ended(found) else None


async def live(
    services: Services, actor: Actor, found: Source, number: int | None, current: int, at: int
) -> AsyncIterator[bytes]:
    """Server-sent events: `output` with the next offset as id, `cut` before the mark of what is
    missing, `attempt` when a retry begins, `end` with the totals. Without a number the stream
    goes on from attempt to attempt."""
    rang = asyncio.Event()
    undo = [
        services.signals.subscribe(log_written(found.job.id), lambda _: rang.set()),
        await services.feed.listen(
            lambda events: rang.set() if any(e.object_id == found.job.id for e in events) else None
        ),
    ]
    quiet = 0.0
    try:
        while True:
            rang.clear()
            newest = await services.db.read(source, actor, found.job.id, number)
            if newest.number != current:
                async for event in _change(services, actor, newest, current, at):
                    yield event
                at, current = 0, newest.number
            sent = at
            async for event, after in _new_output(services, newest, at):
                at = after
                yield event
            if is_ended(newest):
                yield await _end(services, newest, at)
                return
            quiet = 0.0 if at > sent else quiet + LOOK_S
            if quiet >= PULSE_S:
                quiet = 0.0
                yield b": still here\n\n"
            await _wait(rang)
    finally:
        for call in undo:
            call()


async def _change(
    services: Services, actor: Actor, newest: Source, old: int, at: int
) -> AsyncIterator[bytes]:
    """What is left of the attempt before, then the word that another begins."""
    if old:
        before = await services.db.read(source, actor, newest.job.id, old)
        async for event, _ in _new_output(services, before, at):
            yield event
        told = encode({"number": newest.number})
        yield f"id: {_id(newest, 0)}\nevent: attempt\ndata: ".encode() + told + b"\n\n"


def _id(found: Source, after: int) -> str:
    """The next offset; later attempts say their number too, so that going on is unambiguous."""
    return str(after) if found.number <= 1 else f"{found.number}/{after}"


async def _wait(rang: asyncio.Event) -> None:
    try:
        # Not wait_for, which may swallow a cancel that comes with the ring.
        async with asyncio.timeout(LOOK_S):
            await rang.wait()
    except TimeoutError:
        return


async def _new_output(
    services: Services, found: Source, at: int
) -> AsyncIterator[tuple[bytes, int]]:
    """Events for what came since `at`; a character cut by a chunk's end waits for its rest."""
    if found.small is not None:
        if at < len(found.small):
            end = len(found.small)
            yield _output(found, found.small[at:].decode("utf-8", "replace"), end), end
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    read = at
    while chunks := await services.logs.read(joblog.chunks, found.fence, read):
        for after, line, data in joblog.pieces(chunks, read):
            if data == joblog.mark(read, after):
                yield _cut(read, after, line), at
            said = decoder.decode(data)
            read, at = after, after - len(decoder.getstate()[0])
            if said:
                yield _output(found, said, at), at
    if is_ended(found) and (rest := decoder.decode(b"", final=True)):
        yield _output(found, rest, read), read
    if (gap := await _dropped(services, found, read)) is not None:
        yield _cut(read, gap.end, gap.lines), read
        missing = joblog.mark(read, gap.end).decode()
        yield _output(found, missing, gap.end), gap.end


def _cut(start: int, end: int, line: int) -> bytes:
    """Before the mark of a cut: what is missing, and how many lines stand before what follows.
    Without an id, so that whoever comes back between the two hears both again."""
    told = encode({"from": start, "to": end, "line": line})
    return b"event: cut\ndata: " + told + b"\n\n"


def _output(found: Source, said: str, after: int) -> bytes:
    return f"id: {_id(found, after)}\nevent: output\ndata: ".encode() + encode(said) + b"\n\n"


async def _end(services: Services, found: Source, at: int) -> bytes:
    log = await services.logs.read(joblog.find, found.fence)
    result = found.result
    total = result.get("log_bytes", result.get("bytes_total", log.bytes_seen if log else 0))
    kept = len(found.small) if found.small is not None else (log.bytes_kept if log else 0)
    is_empty = total == 0 and not found.is_unknown
    told = {
        "lifecycle": found.job.lifecycle,
        "state": found.job.state,
        "bytes": total,
        "kept": min(kept, total) if total else kept,
        "sha256": result.get("log_sha256", result.get("sha256", "")),
        "complete": found.small is not None or bool(log and log.is_complete) or is_empty,
    }
    return f"id: {_id(found, at)}\nevent: end\ndata: ".encode() + encode(told) + b"\n\n"
