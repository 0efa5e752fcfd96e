"""Logs and scripts of jobs over HTTP."""

import re
from functools import partial

from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.jobs.api.create import JobServices
from belvedere.jobs.output import log_lines, log_stream
from belvedere.jobs.output.log_lines import LineTimes, LogHits, LogLines
from belvedere.jobs.queries import provenance
from belvedere.jobs.queries.provenance import Provenance
from belvedere.rest.route import Reply, Route

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
PLAIN = "text/plain; charset=utf-8"
# Characters of a search text.
MAX_QUERY_LENGTH = 1_000
STREAM = {"x-accel-buffering": "no"}


async def show(request: Request[None]) -> Reply:
    number = _attempt(request)
    source = await _source(request, number)
    if request.first("follow") in ("true", "1"):
        at = _resume(request, source)
        is_current = partial(request.services.of(JobServices).is_current, request)
        body = log_stream.stream(request.services, request.actor, is_current, source, number, *at)
        return Reply(body, headers=STREAM, media_type="text/event-stream")
    byte_range = _RANGE.fullmatch(request.starlette.headers.get("range", ""))
    if byte_range is not None:
        return await _part(request, source, int(byte_range[1]), byte_range[2])
    end = await log_stream.find_end(request.services, source)
    body = log_stream.read_text(request.services, source, _offset(request), end)
    return Reply(body, media_type=PLAIN)


def _attempt(request: AnyRequest) -> int | None:
    text = request.first("attempt")
    return None if text is None else _number("attempt", text)


async def _source(request: AnyRequest, number: int | None) -> log_stream.LogSource:
    source: log_stream.LogSource = await request.services.db.read(
        log_stream.find_source, request.actor, request.path["id"], number
    )
    return source


def _offset(request: AnyRequest) -> int:
    return _number("offset", request.first("offset") or "0")


def _resume(request: AnyRequest, source: log_stream.LogSource) -> tuple[int, int]:
    """The attempt and the byte to continue from: from the id of the last event, else the newest."""
    last = request.starlette.headers.get("last-event-id")
    if not last:
        return source.number, _offset(request)
    number, slash, offset = last.rpartition("/")
    return _number("attempt", number) if slash else 1, _number("offset", offset)


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Invalid(f"{name} must be a whole number.", code="invalid_query")
    return int(text)


async def _part(request: AnyRequest, source: log_stream.LogSource, start: int, last: str) -> Reply:
    total = await log_stream.find_end(request.services, source)
    end = min(total, int(last) + 1) if last else total
    if start >= total or end <= start:
        return Reply("", 416, {"content-range": f"bytes */{total}"}, PLAIN)
    headers = {"content-range": f"bytes {start}-{end - 1}/{total}"}
    return Reply(log_stream.read_text(request.services, source, start, end), 206, headers, PLAIN)


async def search(request: Request[None]) -> LogHits:
    query = request.first("q")
    if not query:
        raise Invalid(
            "q is required: pass the text to search for, ?q=<text>.", code="invalid_query"
        )
    if len(query) > MAX_QUERY_LENGTH:
        raise Invalid(f"q accepts at most {MAX_QUERY_LENGTH} characters.", code="invalid_query")
    limit = _within(request, "limit", log_lines.MAX_HITS, log_lines.MAX_HITS)
    since = _number("from", request.first("from") or "0")
    source = await _source(request, _attempt(request))
    return await log_lines.search(
        request.services, request.actor.customer_id, source, query, limit, since
    )


async def lines(request: Request[None]) -> LogLines:
    first = _within(request, "from", 1, 10**15)
    count = _within(request, "count", 500, log_lines.MAX_LINES)
    return await log_lines.lines(
        request.services, await _source(request, _attempt(request)), first, count
    )


async def times(request: Request[None]) -> LineTimes:
    first = _within(request, "from", 1, 10**15)
    return await log_lines.times(request.services, await _source(request, _attempt(request)), first)


async def script(request: Request[None]) -> Provenance:
    record: Provenance = await request.services.db.read(
        provenance.find_provenance, request.actor, request.path["id"]
    )
    return record


def _within(request: AnyRequest, name: str, default: int, maximum: int) -> int:
    number = _number(name, request.first(name) or str(default))
    if not 1 <= number <= maximum:
        raise Invalid(f"{name} must be 1 to {maximum}.", code="invalid_query")
    return number


_ATTEMPT = ("attempt", "the log of an earlier attempt, by number")

ROUTES = (
    Route(
        "GET",
        "/job/{id}/log",
        "viewer",
        show,
        "Show a job's output as text, or stream it",
        answer=bytes,
        statuses=(206, 416),
        media=("text/plain", "text/event-stream"),
        from_interface=False,
        query=(
            ("follow", "true: server-sent events until the job ends"),
            ("offset", "start at this byte of the original stream"),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/search",
        "viewer",
        search,
        "Search a job's output",
        answer=LogHits,
        from_interface=False,
        query=(
            ("q", "the text, case-insensitive"),
            ("limit", f"at most this many lines, 1 to {log_lines.MAX_HITS}; all are counted"),
            (
                "from",
                "only lines that begin at or after this byte; to continue, the last offset + 1",
            ),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/lines",
        "viewer",
        lines,
        "Read lines of a job's output by number",
        answer=LogLines,
        from_interface=False,
        query=(
            ("from", "the number of the first line, from 1"),
            ("count", f"number of lines, 1 to {log_lines.MAX_LINES}; default 500"),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/times",
        "viewer",
        times,
        "Show when lines of a job's output were written",
        answer=LineTimes,
        from_interface=False,
        query=(("from", "marks from this line on, from 1"), _ATTEMPT),
    ),
    Route(
        "GET",
        "/job/{id}/script",
        "viewer",
        script,
        "Show a job's script and arguments, compared with the task's last successful job",
        answer=Provenance,
        from_interface=False,
    ),
)
