"""The audit log over HTTP: filtered pages, and a CSV export."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Any

from belvedere.access import audit, searches
from belvedere.access.api import records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.audit import AuditFilter, AuditRow
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import read_list, run_search_on
from belvedere.base.clock import iso
from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import is_id
from belvedere.rest import pagination, query
from belvedere.rest.route import Reply

MAX_EXPORT = 100_000
# Bytes of an export that are read at once: they stay in memory while a client does not read.
MAX_PART = 256 * 1024
COLUMNS = (
    *("date", "user", "kind", "address", "action", "object", "object_id", "before", "after"),
    "id",
)


async def list_audit(request: Request[None]) -> Reply:
    listing = audit.to_listing(_filter(request), _limit(request))
    async with heavy_read(request):
        page = await read_list(request, listing, audit.read_page, request.actor)
        entries = [records.audit(row) for row in page.records]
    return pagination.answer_page(request, listing, page, records=entries)


async def export(request: Request[None]) -> Reply:
    limit = _limit(request, MAX_EXPORT, MAX_EXPORT)
    headers = {"content-disposition": 'attachment; filename="audit.csv"'}
    return Reply(_table(request, _filter(request), limit), headers=headers, media_type="text/csv")


async def _table(request: AnyRequest, filters: AuditFilter, limit: int) -> AsyncIterator[bytes]:
    """Step by step, so that neither a long transaction nor much memory is needed."""
    yield _lines([COLUMNS])
    while limit > 0:
        listing = audit.to_listing(filters, limit)
        step = (listing, None, searches.STEP_ROWS, 0, MAX_PART)
        # Never refused, however many searches wait: the response has begun.
        page = await run_search_on(request, audit.read_page, request.actor, *step)
        if page.records:
            yield _lines([_cells(row) for row in page.records])
        after = page.next_after(listing)
        if after is None:
            return
        filters.after, limit = after, limit - len(page.records)


def _cells(row: AuditRow) -> Sequence[str]:
    return [
        _safe(text or "")
        for text in (
            *(iso(row.at), row.actor_name, row.actor_kind, row.address, row.action, row.object),
            *(row.object_id, row.before, row.after, row.id),
        )
    ]


def _safe(text: str) -> str:
    """A spreadsheet must not interpret a text that somebody typed as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _filter(request: AnyRequest) -> AuditFilter:
    if not is_id(request.first("after") or "0" * 24):
        raise _invalid_query("after", "must be the last id of the previous page")
    object_id = request.first("object_id")
    if object_id is not None and not is_id(object_id):
        raise _invalid_query("object_id", "must be an id of 24 hex digits")
    since, until = request.first("from"), request.first("to")
    texts: dict[str, Any] = {
        name: query.text(name, value)
        for name in ("user", "kind", "action", "object", "object_id", "after")
        if (value := request.first(name))
    }
    return AuditFilter(
        **texts,
        since=None if since is None else query.time("from", since),
        until=None if until is None else query.time("to", until),
    )


def _limit(request: AnyRequest, usual: int = 100, most: int = audit.MAX_PAGE) -> int:
    limit = request.first("limit") or str(usual)
    if not (limit.isdecimal() and len(limit) < 9 and 1 <= int(limit) <= most):
        raise _invalid_query("limit", f"must be 1 to {most}")
    return int(limit)


def _invalid_query(field: str, message: str) -> Invalid:
    return Invalid(f"{field} {message}.", code=f"bad_{field}", faults=(Fault(field, message),))


_FILTERS = (
    ("after", "the last id of the previous page"),
    ("user", "a part of the name of the person or program"),
    ("kind", "what did it: member, token, agent, secret, trigger or operator"),
    ("action", "the action or a prefix of it: task. or task.change"),
    ("object", "the kind of the changed record, such as task"),
    ("object_id", "the id of the changed record"),
    ("from", "a time: not before"),
    ("to", "a time: before"),
)

ROUTES = (
    plain_route(
        "GET",
        "/api/audit",
        "admin",
        list_audit,
        "List the audit log, newest first",
        answer=list[records.AuditRecord],
        from_interface=False,
        compress=True,
        query=(("limit", "1 to 1000, default 100"), *_FILTERS),
    ),
    plain_route(
        "GET",
        "/api/audit.csv",
        "admin",
        export,
        "Download the audit log as CSV, at most 100,000 lines",
        answer=bytes,
        media=("text/csv",),
        from_interface=False,
        query=(("limit", "maximum number of lines"), *_FILTERS),
    ),
)
