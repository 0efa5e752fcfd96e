"""Pages of jobs for requests: few large ones at once, with the logs that they include."""

from dataclasses import replace

from belvedere.access.request import AnyRequest, heavy_read
from belvedere.access.searches import SearchBudget, run_long_search, run_search, run_search_on
from belvedere.jobs.api import run_requests
from belvedere.jobs.queries import index_choice, pages
from belvedere.jobs.queries.pages import Page
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order


async def read(
    request: AnyRequest, listing: Listing, most: int | None = None, look: int | None = None
) -> Page:
    if not pages.is_heavy(listing):
        return await _read(request, listing, most, look)
    async with heavy_read(request):
        page = await _read(request, listing, most, look)
        if pages.LOG in listing.include:
            await _add_logs(request, listing, page)
    return page


async def _read(request: AnyRequest, listing: Listing, most: int | None, look: int | None) -> Page:
    """Step by step, until the page is full, the history ends or the budget is spent."""
    if not index_choice.is_in_id_order(listing):
        return await run_long_search(request, pages.looked, request.actor, listing, most, None)
    budget = SearchBudget(look)
    page = await run_search(request, pages.looked, request.actor, listing, most, budget.step)
    while page.is_unfinished(listing, most) and budget.spend_step():
        following = replace(
            listing, after=page.until, limit=(listing.limit or 0) - len(page.records)
        )
        more = None if most is None else max(0, most - (page.total or 0))
        step = (following, more, budget.step, page.size)
        page.append(await run_search_on(request, pages.looked, request.actor, *step))
    return page


async def _add_logs(request: AnyRequest, listing: Listing, page: Page) -> None:
    """Logs come from their own store, and count like the rest."""
    budget = Budget()
    for n, found in enumerate(page.records):
        await run_requests.with_log(request, found, found.id)
        if not budget.takes(pages.size_of(found)):
            check_order(listing)
            page.cut(n)
            return
