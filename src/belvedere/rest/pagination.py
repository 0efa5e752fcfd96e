"""The response to a list: a plain array, with the total and the next page in its headers."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from belvedere.rest.listing import Listing
from belvedere.rest.request import HttpRequest
from belvedere.rest.route import Reply

QUERY = (
    (
        "where[field]",
        "only records whose field has this value; also [$in][], [$ne], [$gt], [$text], …",
    ),
    ("sort[field]", "1 or -1"),
    ("limit", "maximum number of records"),
    ("after", "the id of the last record that you have; in the order of the ids only"),
    ("count", "true: the total in X-Total-Count"),
)


def answer(
    request: HttpRequest,
    listing: Listing,
    records: Sequence[Any],
    total: int | None = None,
    until: str | None = None,
) -> Reply:
    """Records of one page; `total` is given only when the caller asked to count, `until` when no
    more were looked at, however few they are."""
    headers = {}
    if total is not None:
        headers["X-Total-Count"] = str(total)
    is_by_id = (listing.sort[0][0] if listing.sort else listing.of.order) == "id"
    if records and is_by_id and len(records) == listing.limit:
        until = records[-1].id
    if records and listing.is_cut:
        headers["X-Looked-Until"] = until = records[-1].id
    if until is not None:
        headers["Link"] = next_page(request, until)
    return Reply(body=records, headers=headers)


def next_page(request: HttpRequest, last_id: str) -> str:
    """The value of Link."""
    # Without the host, which may differ behind a proxy, but with its path prefix. Without the
    # token, because URLs are written to logs.
    query = {n: v for n, v in request.query.items() if n not in ("after", "access_token")}
    path = request.prefix + request.starlette.url.path
    address = f"{path}?{urlencode({**query, 'after': [last_id]}, doseq=True)}"
    return f'<{address}>; rel="next"'
