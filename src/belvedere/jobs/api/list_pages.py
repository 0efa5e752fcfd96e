"""Pages of jobs for requests: few large ones at once, with the logs that they include."""

from dataclasses import replace

from belvedere.jobs.api import run_requests
from belvedere.jobs.queries import index_choice, pages
from belvedere.jobs.queries.pages import Page
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order, heavy_read
from belvedere.rest.route import Ask
from belvedere.rest.searches import SearchBudget, run_long_search, run_search, run_search_on


async def read(
    ask: Ask, listing: Listing, most: int | None = None, look: int | None = None
) -> Page:
    if not pages.is_heavy(listing):
        return await _read(ask, listing, most, look)
    async with heavy_read(ask):
        page = await _read(ask, listing, most, look)
        if pages.LOG in listing.include:
            await _add_logs(ask, listing, page)
    return page


async def _read(ask: Ask, listing: Listing, most: int | None, look: int | None) -> Page:
    """Step by step, until the page is full, the history ends or the budget is spent."""
    if not index_choice.is_in_id_order(listing):
        return await run_long_search(ask, pages.looked, ask.actor, listing, most, None)
    budget = SearchBudget(look)
    page = await run_search(ask, pages.looked, ask.actor, listing, most, budget.step)
    while page.is_unfinished(listing, most) and budget.spend_step():
        following = replace(
            listing, after=page.until, limit=(listing.limit or 0) - len(page.records)
        )
        more = None if most is None else max(0, most - (page.total or 0))
        step = (following, more, budget.step, page.size)
        page.append(await run_search_on(ask, pages.looked, ask.actor, *step))
    return page


async def _add_logs(ask: Ask, listing: Listing, page: Page) -> None:
    """Logs come from their own store, and count like the rest."""
    budget = Budget()
    for n, found in enumerate(page.records):
        await run_requests.with_log(ask, found, found.id)
        if not budget.takes(pages.size_of(found)):
            check_order(listing)
            page.cut(n)
            return
