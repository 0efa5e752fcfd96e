"""The end of a job as an agent tells it over plain HTTP: `PUT /{customer}/job/{id}`."""

import asyncio
import hashlib
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.errors import Forbidden, NotFound, TooMany
from belvedere.base.ids import is_id
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.lifecycle import verdict
from belvedere.jobs.lifecycle.finish import Reported, finish
from belvedere.jobs.lifecycle.verdict import Said
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord
from belvedere.legacy_agents import registration
from belvedere.protocol import CHUNK, INLINE_LOG, Report
from belvedere.rest.route import Ask, Reply, Route

# A long log is cut here, never refused: the original agent sends a result once.
LONGEST_BODY = 64 << 20
# What the agent of one host may send of ends at once; its log is kept up to 16 MiB.
MAX_IN_PROGRESS = 4 * LONGEST_BODY
# Of a job that is not open no log is kept, so no long body is read.
CLOSED_BODY = 1 << 20
MAX_WORD = 200
LONGEST_LINE = 256 * 1024
# Whatever a stranger's agent counts, it fits our columns.
WIDEST, LONGEST_RUN = 2**31, 2**62
# Pieces of a log that are written in one transaction.
AT_ONCE = 32


# Requests that send an end: their host and the size of their body.
EndsInProgress = dict["asyncio.Task[Any]", tuple[str, int]]


class Told(msgspec.Struct, omit_defaults=True):
    """`{"result": {"state": …, "data": {…}}}`, or the same fields flat."""

    result: dict[str, Any] | None = None
    state: Any = None
    event: Any = None
    data: Any = None
    code: Any = None
    log: Any = None
    lastline: Any = None
    signal: Any = None
    killed: Any = None
    times: Any = None
    output: Any = None
    customer: str | None = None


async def admit(ask: Ask) -> None:
    """Before the body is read: whether the job is this agent's, and how much may be sent."""
    is_open = await ask.house.db.read(_takes_log, ask.actor, ask.path["id"])
    if not is_open:
        ask.max_body = CLOSED_BODY
        return
    length = ask.header(b"content-length") or ""
    size = min(int(length), LONGEST_BODY) if length.isdecimal() else LONGEST_BODY
    _count_in(ask.house.ends_in_progress, ask.actor.host_id, size)


def _takes_log(tx: Tx, actor: Actor, job_id: str) -> bool:
    if not is_id(job_id) or registration.has_update(tx, actor.host_id, job_id):
        return False
    job = _given_to(tx, actor, job_id)
    return job.lifecycle == Lifecycle.ASSIGNED or job.is_lost


def _count_in(ends: EndsInProgress, host_id: str, size: int) -> None:
    """Until its task is over, or `end` is, the body counts for the host."""
    task = asyncio.current_task()
    assert task is not None, "a request is served by a task"
    others = sum(held for other, (host, held) in ends.items() if host == host_id and other != task)
    if others + size > MAX_IN_PROGRESS:
        raise TooMany("Other results of this host are being read; send it again.", retry_after_s=1)
    ends[task] = (host_id, size)
    task.add_done_callback(lambda _: ends.pop(task, None))


async def end(ask: Ask) -> Reply:
    house, job_id = ask.house, ask.path["id"]
    report, said, log = read(msgspec.to_builtins(ask.body))
    fence = await house.db.write(fence_of, ask.actor, job_id)
    if fence is None:
        return Reply(status=204)
    if fence and len(log) > INLINE_LOG:
        await _keep(house, ask.actor.customer_id, fence, job_id, log)
        closing = joblog.Closing(
            fence,
            job_id,
            report.bytes_total,
            report.lines_total,
            report.sha256,
            ask.actor.customer_id,
        )
        await house.logs.write(joblog.close, closing)
    elif fence:
        report.log = log.decode()
    record = await house.db.write(end_by_job, ask.actor, job_id, report, said)
    return Reply(record)


async def _keep(house: Any, customer_id: str, fence: int, job_id: str, log: bytes) -> None:
    """All output first: an end is told when its bytes are durable. What is there stays."""
    pieces, line = [], 0
    dropped = not house.storage.take(customer_id, len(log))
    for at in range(0, len(log), CHUNK):
        data = log[at : at + CHUNK]
        piece = joblog.Output(fence, job_id, at, line, data, 0, customer_id, dropped)
        pieces.append(piece)
        line += data.count(b"\n")
    for first in range(0, len(pieces), AT_ONCE):
        await house.logs.write(joblog.append, pieces[first : first + AT_ONCE])


def fence_of(tx: Tx, actor: Actor, job_id: str) -> int | None:
    """The attempt that is being ended, 0 when that has happened; None where it was no job but the
    order to read the configuration."""
    if registration.is_update(tx, actor.host_id, job_id):
        return None
    job = _given_to(tx, actor, job_id)
    return job.fence if job.lifecycle == Lifecycle.ASSIGNED or job.is_lost else 0


def _given_to(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    job = store.find(tx, actor.customer_id, job_id)
    if job.host_id != actor.host_id:
        raise Forbidden("Only the agent of the job's host may end it.", code="other_host")
    if job.fence == 0:
        raise NotFound("The job was never given to this agent.", code="job_not_found")
    return job


def end_by_job(tx: Tx, actor: Actor, job_id: str, report: Report, said: Said) -> JobRecord:
    """The live attempt of this job ends; a late word is kept and changes nothing."""
    job = _given_to(tx, actor, job_id)
    finish(tx, [Reported(actor.host_id, job.fence, report, said)])
    return details.whole(tx, store.find(tx, actor.customer_id, job_id), actor.customer_name)


def read(told: dict[str, Any]) -> tuple[Report, Said, bytes]:
    """The original agent's words as our report, what they mean, and the log."""
    result = told.get("result") or told
    data = result.get("data")
    if not isinstance(data, dict):
        data = {key: result[key] for key in result if key not in ("state", "event", "data")}
    log = json_text.clean(str(data.get("log") or data.get("message") or "")).encode()
    signal = data.get("signal")
    report = Report(
        ending="timeout" if data.get("killed") is True else "exit",
        code=_code(data.get("code"), result.get("state"), signal),
        signal=json_text.clean(str(signal)[:MAX_WORD]) if signal else None,
        elapsed_ns=_elapsed(data.get("times")),
        lastline=_lastline(data, result.get("state")),
        bytes_total=len(log),
        lines_total=log.count(b"\n"),
        sha256=hashlib.sha256(log).hexdigest(),
    )
    return report, _said(report.lastline, result, data), log


def _code(code: Any, state: Any, signal: Any) -> int:
    if isinstance(code, int) and not isinstance(code, bool):
        return max(-WIDEST, min(code, WIDEST))
    return 128 if signal else int(state in ("failure", "error"))


def _elapsed(times: Any) -> int:
    if not isinstance(times, dict):
        return 0
    seconds, nanos = times.get("seconds", 0), times.get("nanoseconds", 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return 0
    return max(0, min(seconds * 1_000_000_000 + nanos, LONGEST_RUN))


def _lastline(data: dict[str, Any], state: Any) -> str:
    line = data.get("lastline", state if isinstance(state, str) else "")
    return json_text.clean(str(line or ""))[-LONGEST_LINE:]


def _said(lastline: str, result: dict[str, Any], data: dict[str, Any]) -> Said:
    """The agent has read the last line itself: its state and output count before the line."""
    said = verdict.listen(lastline)
    word = result.get("state")
    if isinstance(word, str) and word in verdict.WORDS:
        said.state = verdict.WORDS[word]
    output = _output(data)
    if output is not None:
        said.output = verdict.strings(output if isinstance(output, list) else [output])
    event = result.get("event")
    if isinstance(event, str) and event:
        said.event_name = json_text.clean(event[:MAX_WORD])
    return said


def _output(data: dict[str, Any]) -> Any:
    """Of a web request the next task gets body, headers and status, as from our own agent."""
    answer = data.get("response")
    if not isinstance(answer, dict):
        return data.get("output")
    headers = json_text.compact(answer.get("headers") or {})
    return [str(answer.get("body") or ""), headers, str(answer.get("status_code") or 0)]


ROUTES = (
    Route(
        "PUT",
        "/job/{id}",
        "agent",
        end,
        "Tell the end of a job.",
        body=Told,
        answer=JobRecord,
        statuses=(204,),
        max_body=LONGEST_BODY,
        admit=admit,
    ),
)
