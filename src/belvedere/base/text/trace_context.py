"""W3C trace context: the header `traceparent` of requests, and the variable of scripts.

The span of a job has the last 16 digits of the job's id as its id, so that nothing else has to be
stored: anyone who has the job's id can name its span.
"""

import re
from typing import NamedTuple

HEADER = b"traceparent"
VARIABLE = "TRACEPARENT"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
MAX_LENGTH = 256


class TraceContext(NamedTuple):
    trace_id: str
    # The span of the caller.
    parent_id: str
    flags: str

    @property
    def is_sampled(self) -> bool:
        return bool(int(self.flags, 16) & 1)


def parse(text: str) -> TraceContext | None:
    """None for what the specification calls invalid: such a header is ignored."""
    match = _FORM.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    version, trace_id, parent_id, flags, rest = match.groups()
    # Later versions may add parts, version 00 may not.
    if version == "ff" or (version == "00" and rest is not None):
        return None
    if not trace_id.strip("0") or not parent_id.strip("0"):
        return None
    return TraceContext(trace_id, parent_id, flags)


def read_header(text: str | None) -> str | None:
    """The value to store with a job; None without a valid one."""
    context = parse(text) if text else None
    return None if context is None else f"00-{context.trace_id}-{context.parent_id}-{context.flags}"


def span_id(job_id: str) -> str:
    return job_id[-16:]


def for_children(traceparent: str | None, job_id: str) -> str | None:
    """The context for what the job starts: its script, or the steps of a workflow."""
    if traceparent is None:
        return None
    return f"{traceparent[:36]}{span_id(job_id)}{traceparent[52:]}"
