"""The result of a job that a TheEye agent reports: `PUT /{customer}/job/{id}`."""

import asyncio
import hashlib
import json
from signal import Signals
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden, NotFound, TooMany
from belvedere.base.ids import is_id
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.lifecycle import verdict
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish
from belvedere.jobs.lifecycle.verdict import ParsedLastLine
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.jobs.output import log_store
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord
from belvedere.legacy_agents import registration
from belvedere.legacy_agents.registration import EndsInProgress, LegacyServices
from belvedere.protocol import CHUNK, INLINE_LOG, Report
from belvedere.rest.route import Reply, Route

# A long log is cut here, never refused: TheEye's agents send a result only once.
MAX_BODY = 64 << 20
# Bytes of results that the agent of one host may be sending; a log is kept up to 16 MiB.
MAX_IN_PROGRESS = 4 * MAX_BODY
# The log of a finished job is not stored, so no long body is read.
MAX_CLOSED_BODY = 1 << 20
MAX_WORD = 200
MAX_LASTLINE = 256 * 1024
# Limits of the database columns.
MAX_CODE, MAX_ELAPSED_NS = 2**31, 2**62
MAX_SIGNAL = 64
# Chunks of a log that are written in one transaction.
BATCH_SIZE = 32


class JobReportBody(msgspec.Struct, omit_defaults=True):
    """`{"result": {"state": …, "data": {…}}}`, or the same fields at the top level."""

    result: dict[str, Any] | None = None
    # TheEye's agents send any JSON here: the types are checked where the values are read.
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


async def admit(request: AnyRequest) -> None:
    """Before the body is read: check that the job belongs to this agent, and limit the body."""
    is_open = await request.services.db.read(_accepts_log, request.actor, request.path["id"])
    if not is_open:
        request.max_body = MAX_CLOSED_BODY
        return
    length = request.header(b"content-length") or ""
    size = min(int(length), MAX_BODY) if length.isdecimal() else MAX_BODY
    _count_upload(request.services.of(LegacyServices).ends_in_progress, request.actor.host_id, size)


def _accepts_log(tx: Tx, actor: Actor, job_id: str) -> bool:
    if not is_id(job_id) or registration.has_update(tx, actor.host_id, job_id):
        return False
    job = _job_of_host(tx, actor, job_id)
    return job.lifecycle == Lifecycle.ASSIGNED or job.is_lost


def _count_upload(uploads: EndsInProgress, host_id: str, size: int) -> None:
    """The body counts towards the host's limit until the request ends."""
    task = asyncio.current_task()
    assert task is not None, "a request is served by a task"
    others = sum(
        bytes_ for other, (host, bytes_) in uploads.items() if host == host_id and other != task
    )
    if others + size > MAX_IN_PROGRESS:
        raise TooMany(
            "Too many results of this host are being received; try again.", retry_after_s=1
        )
    uploads[task] = (host_id, size)
    task.add_done_callback(lambda _: uploads.pop(task, None))


async def finish_job(request: Request[JobReportBody]) -> Reply:
    services, job_id = request.services, request.path["id"]
    report, line, log = read(msgspec.to_builtins(request.body))
    fence = await services.db.write(fence_of, request.actor, job_id)
    if fence is None:
        return Reply(status=204)
    if fence and len(log) > INLINE_LOG:
        await _store_log(request, fence, job_id, log)
        closing = log_store.LogEnd(
            fence,
            job_id,
            report.bytes_total,
            report.lines_total,
            report.sha256,
            request.actor.customer_id,
        )
        await services.logs.write(log_store.close, closing)
    elif fence:
        report.log = log.decode()
    record = await services.db.write(record_end, request.actor, job_id, report, line)
    return Reply(record)


async def _store_log(request: AnyRequest, fence: int, job_id: str, log: bytes) -> None:
    """Output first: a result is recorded when its log is durable. Stored chunks stay."""
    services, customer_id = request.services, request.actor.customer_id
    pieces, line = [], 0
    dropped = not services.of(LegacyServices).take_storage(customer_id, len(log))
    for at in range(0, len(log), CHUNK):
        data = log[at : at + CHUNK]
        piece = log_store.LogPiece(fence, job_id, at, line, data, 0, customer_id, dropped)
        pieces.append(piece)
        line += data.count(b"\n")
    for first in range(0, len(pieces), BATCH_SIZE):
        await services.logs.write(log_store.append, pieces[first : first + BATCH_SIZE])


def fence_of(tx: Tx, actor: Actor, job_id: str) -> int | None:
    """The fence of the attempt that ends; 0 if it has ended already; None if this was not a job but
    the order to read the configuration."""
    if registration.complete_update(tx, actor.host_id, job_id):
        return None
    job = _job_of_host(tx, actor, job_id)
    return job.fence if job.lifecycle == Lifecycle.ASSIGNED or job.is_lost else 0


def _job_of_host(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    job = store.find(tx, actor.customer_id, job_id)
    if job.host_id != actor.host_id:
        raise Forbidden(
            "Only the agent of the job's host may report its result.", code="other_host"
        )
    if job.fence == 0:
        raise NotFound("The job was never sent to this agent.", code="job_not_found")
    return job


def record_end(
    tx: Tx, actor: Actor, job_id: str, report: Report, line: ParsedLastLine
) -> JobRecord:
    """End the running attempt of this job; a late report is stored and changes nothing."""
    job = _job_of_host(tx, actor, job_id)
    finish(tx, [ReceivedReport(actor.host_id, job.fence, report, line)])
    return details.full_record(tx, store.find(tx, actor.customer_id, job_id), actor.customer_name)


def read(body: dict[str, Any]) -> tuple[Report, ParsedLastLine, bytes]:
    """The body as a report of the protocol, its verdict, and the log."""
    result = body.get("result") or body
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
    return report, _agent_verdict(report.lastline, result, data), log


def _code(code: object, state: object, signal: object) -> int:
    is_number = isinstance(code, int) and not isinstance(code, bool)
    # A process that a signal ended has no exit code of its own.
    if signal and (not is_number or code == 0):
        return 128 + _signal_number(signal)
    if isinstance(code, int) and is_number:
        return max(-MAX_CODE, min(code, MAX_CODE))
    return int(state in ("failure", "error"))


def _signal_number(signal: object) -> int:
    """From a name such as SIGTERM, or the number itself; 0 if there is no such signal."""
    if isinstance(signal, int):
        return signal if 0 < signal <= MAX_SIGNAL else 0
    name = signal.strip().upper() if isinstance(signal, str) else ""
    return Signals[name].value if name in Signals.__members__ else 0


def _elapsed(times: object) -> int:
    if not isinstance(times, dict):
        return 0
    seconds, nanos = times.get("seconds", 0), times.get("nanoseconds", 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return 0
    return max(0, min(seconds * 1_000_000_000 + nanos, MAX_ELAPSED_NS))


def _lastline(data: dict[str, Any], state: object) -> str:
    line = data.get("lastline", state if isinstance(state, str) else "")
    return json_text.clean(str(line or ""))[-MAX_LASTLINE:]


def _agent_verdict(lastline: str, result: dict[str, Any], data: dict[str, Any]) -> ParsedLastLine:
    """The agent has read the last line itself: its state and output take precedence. If its output
    is just the whole line, our rule decides what of it is output."""
    line = verdict.parse_last_line(lastline)
    word = result.get("state")
    if isinstance(word, str) and word in verdict.STATES_BY_WORD:
        line.state = verdict.STATES_BY_WORD[word]
    output = _output(data)
    if output is not None and not (line.is_json and output == json.loads(lastline)):
        line.output = verdict.strings(output if isinstance(output, list) else [output])
    event = result.get("event")
    if isinstance(event, str) and event:
        line.event_name = json_text.clean(event[:MAX_WORD])
    return line


def _output(data: dict[str, Any]) -> object:
    """For a web request the next task gets body, headers and status, as from Belvedere's agent."""
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
        finish_job,
        "Report the result of a job",
        body=JobReportBody,
        answer=JobRecord,
        statuses=(204,),
        max_body=MAX_BODY,
        admit=admit,
    ),
)
