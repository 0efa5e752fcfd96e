"""Pages of jobs for requests: few large ones at a time, with the logs that they include."""

from dataclasses import replace

from belvedere.access.request import AnyRequest, heavy_read
from belvedere.access.searches import SearchBudget, run_long_search, run_search, run_search_on
from belvedere.jobs.api import run_requests
from belvedere.jobs.queries import index_choice, pages
from belvedere.jobs.queries.pages import Page
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order


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
    """Step by step, until the page is full, the history ends or the budget is spent."""
    if not index_choice.is_in_id_order(listing):
        return await run_long_search(
            request, pages.read_page, request.actor, listing, count_limit, None
        )
    budget = SearchBudget(search_limit)
    page = await run_search(
        request, pages.read_page, request.actor, listing, count_limit, budget.step
    )
    while page.is_unfinished(listing, count_limit) and budget.spend_step():
        following = replace(
            listing, after=page.until, limit=(listing.limit or 0) - len(page.records)
        )
        remaining_count = None if count_limit is None else max(0, count_limit - (page.total or 0))
        step = (following, remaining_count, budget.step, page.size)
        page.append(await run_search_on(request, pages.read_page, request.actor, *step))
    return page


async def _add_logs(request: AnyRequest, listing: Listing, page: Page) -> None:
    """Logs come from the log store, and count towards the size of the response."""
    budget = Budget()
    for position, record in enumerate(page.records):
        await run_requests.add_log(request, record, record.id)
        if not budget.takes(pages.encoded_size(record)):
            check_order(listing)
            page.cut(position)
            return
