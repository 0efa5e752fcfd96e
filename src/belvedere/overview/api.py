"""What pages need at once, over HTTP."""

from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.overview import api_lines, counts, pending_decisions
from belvedere.overview import search as searching
from belvedere.overview.counts import Counts
from belvedere.overview.pending_decisions import Need
from belvedere.overview.search import Found
from belvedere.rest import query
from belvedere.rest.route import Route


def _limit(request: AnyRequest, usual: int, most: int) -> int:
    limit = query.whole("limit", request.first("limit") or str(usual))
    if not 1 <= limit <= most:
        raise query.bad("limit", f"limit takes 1 to {most}.")
    return limit


async def search(request: Request[None]) -> list[Found]:
    asked = request.first("kind")
    kinds = tuple(asked.split(",")) if asked else searching.KINDS
    for kind in kinds:
        if kind not in searching.KINDS:
            raise query.bad("kind", f"kind takes {', '.join(searching.KINDS)}.")
    most = _limit(request, searching.USUAL, searching.MOST)
    found: list[Found] = await run_search(
        request, searching.search, request.actor, request.first("q") or "", kinds, most
    )
    return found


async def count(request: Request[None]) -> Counts:
    found: Counts = await request.services.db.read(counts.counts, request.actor)
    return found


async def list_needs(request: Request[None]) -> list[Need]:
    limit = _limit(request, pending_decisions.MOST, pending_decisions.MOST)
    async with heavy_read(request):
        found: list[Need] = await run_search(request, pending_decisions.needs, request.actor, limit)
    return found


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/-/search",
        "viewer",
        search,
        "Find anything by name or tag, and jobs by the start of their id",
        style="plain",
        answer=list[Found],
        known=False,
        query=(
            ("q", "words that all must be in the name, a tag, or what stands beside the name"),
            ("kind", f"only these, separated by commas: {', '.join(searching.KINDS)}"),
            ("limit", f"1 to {searching.MOST}, {searching.USUAL} unless told"),
        ),
    ),
    Route(
        "GET",
        "/-/counts",
        "viewer",
        count,
        "How many monitors, jobs, hosts and indicators are how, and what waits for me",
        style="plain",
        answer=Counts,
        known=False,
    ),
    Route(
        "GET",
        "/-/needs",
        "viewer",
        list_needs,
        "Approvals and inputs that wait for me, newest first",
        style="plain",
        answer=list[Need],
        known=False,
        query=(("limit", f"1 to {pending_decisions.MOST}"),),
    ),
    *api_lines.ROUTES,
)
