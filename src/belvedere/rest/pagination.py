"""The response to a list: a plain array, with the total and the next page in its headers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from belvedere.rest.listing import Listing
from belvedere.rest.request import HttpRequest
from belvedere.rest.route import Reply

T = TypeVar("T")

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


@dataclass(slots=True)
class ListPage(Generic[T]):
    """Records of one page.

    `total`: if requested, of the rows that were examined. `until`: the id of the last of these;
    None if no more remain. `last`: the id of the last record. `is_cut`: the page ends before its
    limit because the response would be too large. `size`: counted bytes.
    """

    records: list[T]
    total: int | None
    until: str | None
    last: str | None = None
    is_cut: bool = False
    size: int = 0

    def cut(self, count: int, last: str | None) -> None:
        """At most this many records; the next page continues after the last of them."""
        del self.records[count:]
        self.until = self.last = last
        self.is_cut = True

    def append(self, step: "ListPage[T]") -> None:
        """The records of the next step of the same list."""
        self.records += step.records
        self.last = step.last if step.records else self.last
        self.total = None if self.total is None else self.total + (step.total or 0)
        self.until, self.is_cut, self.size = step.until, step.is_cut, step.size

    def is_unfinished(self, listing: Listing, count_limit: int | None) -> bool:
        """Whether there are more rows to examine, for the page or for the total."""
        if self.until is None or self.is_cut:
            return False
        is_counting = self.total is not None and (count_limit is None or self.total <= count_limit)
        return is_counting or len(self.records) < (listing.limit or 0)

    def next_after(self, listing: Listing) -> str | None:
        """The id behind which the next page begins; None if this is the last, or if the list has
        another order."""
        if not listing.is_by_id:
            return None
        is_full = bool(self.records) and len(self.records) == listing.limit
        return self.last if is_full else self.until


def page_reply(
    request: HttpRequest,
    listing: Listing,
    records: Sequence[Any],
    total: int | None = None,
) -> Reply:
    """Records of one page; `total` only if the caller asked to count."""
    headers, until = {}, None
    if total is not None:
        headers["X-Total-Count"] = str(total)
    if records and listing.is_by_id and len(records) == listing.limit:
        until = records[-1].id
    if records and listing.is_cut:
        headers["X-Looked-Until"] = until = records[-1].id
    if until is not None:
        headers["Link"] = next_page(request, until)
    return Reply(body=records, headers=headers)


def answer_page(
    request: HttpRequest,
    listing: Listing,
    page: ListPage[Any],
    count_limit: int | None = None,
    records: Sequence[Any] | None = None,
) -> Reply:
    """A page that was read in steps: it can end before its limit, and even be empty, without being
    the last. `records`: what the response has instead of the page's own."""
    headers = {} if page.until is None else {"X-Looked-Until": page.until}
    if page.total is not None:
        headers["X-Total-Count"] = str(min(page.total, count_limit or page.total))
        if page.until is not None or (count_limit is not None and page.total > count_limit):
            headers["X-Total-More"] = "true"
    after = page.next_after(listing)
    if after is not None:
        headers["Link"] = next_page(request, after)
    return Reply(body=page.records if records is None else records, headers=headers)


def next_page(request: HttpRequest, last_id: str) -> str:
    """The value of Link."""
    # Without the host, which may differ behind a proxy, but with its path prefix. Without the
    # token, because URLs are written to logs.
    query = {n: v for n, v in request.query.items() if n not in ("after", "access_token")}
    path = request.prefix + request.starlette.url.path
    address = f"{path}?{urlencode({**query, 'after': [last_id]}, doseq=True)}"
    return f'<{address}>; rel="next"'
