"""What a job ran and said, over HTTP."""

import re

from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.jobs.output import log_lines, log_stream, logtimes
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.output.log_lines import Hits, Lines
from belvedere.jobs.output.logtimes import Times
from belvedere.jobs.queries import provenance
from belvedere.jobs.queries.provenance import Provenance
from belvedere.rest.route import Reply, Route

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
PLAIN = "text/plain; charset=utf-8"
# Characters that are looked for in each line.
MAX_SOUGHT = 1_000
STREAM = {"x-accel-buffering": "no"}


async def show(request: Request[None]) -> Reply:
    number = _attempt(request)
    found = await _source(request, number)
    if request.first("follow") in ("true", "1"):
        at = _resume(request, found)
        body = log_stream.live(request.services, request.actor, found, number, *at)
        return Reply(body, headers=STREAM, media_type="text/event-stream")
    wanted = _RANGE.fullmatch(request.starlette.headers.get("range", ""))
    if wanted is not None:
        return await _part(request, found, int(wanted[1]), wanted[2])
    body = log_stream.text(request.services, found, _offset(request), None)
    return Reply(body, media_type=PLAIN)


def _attempt(request: AnyRequest) -> int | None:
    text = request.first("attempt")
    return None if text is None else _number("attempt", text)


async def _source(request: AnyRequest, number: int | None) -> log_stream.Source:
    found: log_stream.Source = await request.services.db.read(
        log_stream.source, request.actor, request.path["id"], number
    )
    return found


def _offset(request: AnyRequest) -> int:
    return _number("offset", request.first("offset") or "0")


def _resume(request: AnyRequest, found: log_stream.Source) -> tuple[int, int]:
    """The attempt and the byte to go on from: what the last event's id says, else the newest."""
    last = request.starlette.headers.get("last-event-id")
    if not last:
        return found.number, _offset(request)
    number, slash, offset = last.rpartition("/")
    return _number("attempt", number) if slash else 1, _number("offset", offset)


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Invalid(f"{name} is a whole number.", code="invalid_query")
    return int(text)


async def _part(request: AnyRequest, found: log_stream.Source, start: int, last: str) -> Reply:
    total = await _total(request, found)
    end = min(total, int(last) + 1) if last else total
    if start >= total or end <= start:
        return Reply("", 416, {"content-range": f"bytes */{total}"}, PLAIN)
    headers = {"content-range": f"bytes {start}-{end - 1}/{total}"}
    return Reply(log_stream.text(request.services, found, start, end), 206, headers, PLAIN)


async def _total(request: AnyRequest, found: log_stream.Source) -> int:
    if found.small is not None:
        return len(found.small)
    log = await request.services.logs.read(joblog.find, found.fence)
    return log.end if log is not None else 0


async def search(request: Request[None]) -> Hits:
    wanted = request.first("q")
    if not wanted:
        raise Invalid("Say what to look for: ?q=<text>.", code="invalid_query")
    if len(wanted) > MAX_SOUGHT:
        raise Invalid(f"q takes at most {MAX_SOUGHT} characters.", code="invalid_query")
    most = _within(request, "limit", log_lines.MOST_FOUND, log_lines.MOST_FOUND)
    since = _number("from", request.first("from") or "0")
    source = await _source(request, _attempt(request))
    return await log_lines.search(
        request.services, request.actor.customer_id, source, wanted, most, since
    )


async def lines(request: Request[None]) -> Lines:
    first = _within(request, "from", 1, 10**15)
    count = _within(request, "count", 500, log_lines.MOST_LINES)
    return await log_lines.lines(
        request.services, await _source(request, _attempt(request)), first, count
    )


async def times(request: Request[None]) -> Times:
    first = _within(request, "from", 1, 10**15)
    return await logtimes.times(request.services, await _source(request, _attempt(request)), first)


async def script(request: Request[None]) -> Provenance:
    found: Provenance = await request.services.db.read(
        provenance.provenance, request.actor, request.path["id"]
    )
    return found


def _within(request: AnyRequest, name: str, usual: int, most: int) -> int:
    number = _number(name, request.first(name) or str(usual))
    if not 1 <= number <= most:
        raise Invalid(f"{name} is 1 to {most}.", code="invalid_query")
    return number


_ATTEMPT = ("attempt", "the log of an earlier attempt, by number")

ROUTES = (
    Route(
        "GET",
        "/job/{id}/log",
        "viewer",
        show,
        "The job's output as text, or live.",
        answer=bytes,
        statuses=(206, 416),
        media=("text/plain", "text/event-stream"),
        known=False,
        query=(
            ("follow", "true: server-sent events until the job is over"),
            ("offset", "begin at this byte of the stream as produced"),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/search",
        "viewer",
        search,
        "Lines of the output that hold a text.",
        answer=Hits,
        known=False,
        query=(
            ("q", "the text, without regard to case"),
            ("limit", f"give so many lines, 1 to {log_lines.MOST_FOUND}; all are counted"),
            ("from", "only lines that begin at this byte or behind: one more than the last offset"),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/lines",
        "viewer",
        lines,
        "Lines of the output by their number.",
        answer=Lines,
        known=False,
        query=(
            ("from", "the number of the first, from 1 on"),
            ("count", f"so many, 1 to {log_lines.MOST_LINES}; 500 unless told"),
            _ATTEMPT,
        ),
    ),
    Route(
        "GET",
        "/job/{id}/log/times",
        "viewer",
        times,
        "When which lines of the output were written.",
        answer=Times,
        known=False,
        query=(("from", "marks from this line on, from 1"), _ATTEMPT),
    ),
    Route(
        "GET",
        "/job/{id}/script",
        "viewer",
        script,
        "The script that it ran, beside that of the task's last good job.",
        answer=Provenance,
        known=False,
    ),
)
