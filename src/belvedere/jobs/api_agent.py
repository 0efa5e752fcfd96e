"""The end of a job as an agent tells it over plain HTTP: `PUT /{customer}/job/{id}`."""

from typing import Any

import msgspec

from belvedere.access.model import Actor
from belvedere.base import text
from belvedere.base.errors import Forbidden, NotFound
from belvedere.db import Tx
from belvedere.jobs import reading, store
from belvedere.jobs.finish import Reported, finish
from belvedere.jobs.record import JobRecord
from belvedere.protocol import Report
from belvedere.rest.route import Ask, Route

# A long log is cut here, never refused: the original agent sends a result once.
LONGEST_BODY = 256 << 20
KEPT_LOG = 256 * 1024


class Told(msgspec.Struct, omit_defaults=True):
    """`{"result": {"state": …, "data": {…}}}`, or the same fields flat."""

    result: dict[str, Any] | None = None
    state: str | None = None
    data: dict[str, Any] | None = None
    code: Any = None
    log: Any = None
    lastline: Any = None
    signal: Any = None
    killed: Any = None
    times: Any = None
    output: Any = None
    customer: str | None = None


async def end(ask: Ask) -> JobRecord:
    told = msgspec.to_builtins(ask.body)
    record: JobRecord = await ask.house.db.write(end_by_job, ask.actor, ask.path["id"], told)
    return record


def end_by_job(tx: Tx, actor: Actor, job_id: str, told: dict[str, Any]) -> JobRecord:
    """The live attempt of this job ends; a late word is kept and changes nothing."""
    job = store.find(tx, actor.customer_id, job_id)
    if job.host_id != actor.host_id:
        raise Forbidden("Only the agent of the job's host may end it.", code="other_host")
    if job.fence == 0:
        raise NotFound("The job was never given to this agent.", code="job_not_found")
    finish(tx, [Reported(actor.host_id, job.fence, report_of(told))])
    return reading.whole(tx, store.find(tx, actor.customer_id, job_id), actor.customer_name)


def report_of(told: dict[str, Any]) -> Report:
    """The original agent's words as our report."""
    result = told.get("result") or told
    data = result.get("data") or {key: result[key] for key in result if key != "state"}
    log = text.clean(str(data.get("log") or ""))
    signal = data.get("signal")
    killed = data.get("killed") is True
    size = len(log.encode())
    return Report(
        ending="timeout" if killed else "exit",
        code=_code(data.get("code"), result.get("state"), signal),
        signal=str(signal) if signal else None,
        elapsed_ns=_elapsed(data.get("times")),
        lastline=_lastline(data, result.get("state")),
        log=log[-KEPT_LOG:],
        bytes_total=size,
        lines_total=log.count("\n"),
    )


def _code(code: Any, state: Any, signal: Any) -> int:
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    return 128 if signal else int(state in ("failure", "error"))


def _elapsed(times: Any) -> int:
    if not isinstance(times, dict):
        return 0
    seconds, nanos = times.get("seconds", 0), times.get("nanoseconds", 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return 0
    return max(0, seconds * 1_000_000_000 + nanos)


def _lastline(data: dict[str, Any], state: Any) -> str:
    """The agent has read the last line itself; its state and output say the same again."""
    if data.get("output") is not None:
        return text.clean(text.compact({"state": state, "output": data["output"]}))
    return text.clean(str(data.get("lastline") or state or ""))


ROUTES = (
    Route(
        "PUT",
        "/job/{id}",
        "agent",
        end,
        "Tell the end of a job.",
        body=Told,
        answer=JobRecord,
        max_body=LONGEST_BODY,
    ),
)
