"""Pages of jobs for requests: few large ones at a time, with the logs that they include."""

from belvedere.access.request import AnyRequest, heavy_read
from belvedere.access.searches import read_list
from belvedere.jobs.api import run_requests
from belvedere.jobs.queries import pages
from belvedere.jobs.queries.index_choice import CREATED
from belvedere.jobs.queries.pages import Page
from belvedere.jobs.search import terms
from belvedere.rest import listing as filters
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order

SEARCH_TEXT = (
    "words in the name, the id, the arguments, the result, or the name or e-mail of the person"
    " who started it; all of them must occur"
)


def listing(request: AnyRequest) -> Listing:
    """The list that the query describes, with the search text `q`."""
    job_list = filters.read(request.query, pages.listable(request.services.db.dialect))
    return terms.with_search(job_list, request.first("q") or "")


async def read(
    request: AnyRequest,
    listing: Listing,
    count_limit: int | None = None,
    search_limit: int | None = None,
) -> Page:
    if not pages.includes_details(listing):
        return await _read(request, listing, count_limit, search_limit)
    async with heavy_read(request):
        page = await _read(request, listing, count_limit, search_limit)
        if pages.LOG in listing.include:
            await _add_logs(request, listing, page)
    return page


async def _read(
    request: AnyRequest, listing: Listing, count_limit: int | None, search_limit: int | None
) -> Page:
    return await read_list(
        request,
        listing,
        pages.read_page,
        request.actor,
        count_limit=count_limit,
        row_limit=search_limit,
        time_field=CREATED.name,
    )


async def _add_logs(request: AnyRequest, listing: Listing, page: Page) -> None:
    """Logs come from the log store, and count towards the size of the response."""
    budget = Budget()
    for position, record in enumerate(page.records):
        await run_requests.add_log(request, record, record.id)
        if not budget.takes(pages.encoded_size(record)):
            check_order(listing)
            page.cut(position, page.records[position - 1].id)
            return
