"""The spans of an ended job in the JSON encoding of OTLP: the whole job, its wait and its run."""

import hashlib
from collections.abc import Sequence
from typing import Any

from belvedere import __version__
from belvedere.base.clock import Millis
from belvedere.base.text import trace_context
from belvedere.base.text.trace_context import TraceContext
from belvedere.jobs.model import JobRow

INTERNAL = 1
OK, ERROR = 1, 2
GOOD_STATES = ("normal", "success")
Span = dict[str, Any]  # JSON


def spans_of(job: JobRow) -> list[Span]:
    """Empty for a job without a sampled trace."""
    context = trace_context.parse(job.traceparent or "")
    if context is None or not context.is_sampled or job.ended_at is None:
        return []
    job_span = _span(context, job, job.name, job.created_at, job.ended_at)
    job_span["attributes"] = _attributes(job)
    job_span["status"] = {"code": OK if job.state in GOOD_STATES else ERROR, "message": job.state}
    spans = [job_span]
    if job.assigned_at is not None:
        spans.append(_part(context, job, "wait", job.created_at, job.assigned_at))
    if job.started_at is not None:
        spans.append(_part(context, job, "run", job.started_at, job.ended_at))
    return spans


def _span(context: TraceContext, job: JobRow, name: str, start: Millis, end: Millis) -> Span:
    return {
        "traceId": context.trace_id,
        "spanId": trace_context.span_id(job.id),
        "parentSpanId": context.parent_id,
        "name": name,
        "kind": INTERNAL,
        # 64-bit numbers are texts in the JSON of protobuf.
        "startTimeUnixNano": str(start * 1_000_000),
        "endTimeUnixNano": str(max(start, end) * 1_000_000),
    }


def _part(context: TraceContext, job: JobRow, name: str, start: Millis, end: Millis) -> Span:
    part = _span(context, job, name, start, end)
    part["parentSpanId"] = part["spanId"]
    part["spanId"] = hashlib.sha256(f"{job.id} {name}".encode()).hexdigest()[:16]
    return part


def _attributes(job: JobRow) -> list[dict[str, Any]]:
    values = {
        "belvedere.job.id": job.id,
        "belvedere.job.type": job.type,
        "belvedere.job.lifecycle": job.lifecycle,
        "belvedere.job.state": job.state,
        "belvedere.job.origin": job.origin,
        "belvedere.task.id": job.task_id or "",
        "belvedere.host.id": job.host_id or "",
    }
    return [_attribute(name, value) for name, value in values.items() if value]


def _attribute(name: str, value: str) -> dict[str, Any]:
    return {"key": name, "value": {"stringValue": value}}


def request_body(spans: Sequence[Span]) -> dict[str, Any]:
    """The body of `POST /v1/traces`."""
    resource = {"attributes": [_attribute("service.name", "belvedere")]}
    scope = {"name": "belvedere", "version": __version__}
    scope_spans = [{"scope": scope, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": scope_spans}]}
