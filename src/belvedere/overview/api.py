"""Search, counts and pending decisions over HTTP."""

from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.overview import api_rows, counts, names, pending_decisions
from belvedere.overview import search as searching
from belvedere.overview.counts import Counts
from belvedere.overview.names import ObjectName
from belvedere.overview.pending_decisions import PendingDecision
from belvedere.overview.search import SearchResult
from belvedere.rest import query
from belvedere.rest.route import Route


def _limit(request: AnyRequest, default: int, maximum: int) -> int:
    limit = query.integer("limit", request.first("limit") or str(default))
    if not 1 <= limit <= maximum:
        raise query.invalid_query("limit", f"limit must be 1 to {maximum}.")
    return limit


async def search(request: Request[None]) -> list[SearchResult]:
    kind_list = request.first("kind")
    kinds = tuple(kind_list.split(",")) if kind_list else searching.KINDS
    for kind in kinds:
        if kind not in searching.KINDS:
            raise query.invalid_query("kind", f"kind must be one of {', '.join(searching.KINDS)}.")
    limit = _limit(request, searching.DEFAULT_LIMIT, searching.MAX_LIMIT)
    results: list[SearchResult] = await run_search(
        request, searching.search, request.actor, request.first("q") or "", kinds, limit
    )
    return results


async def list_names(request: Request[None]) -> list[ObjectName]:
    kind = request.first("kind") or ""
    if kind not in names.KINDS:
        raise query.invalid_query("kind", f"kind must be one of {', '.join(names.KINDS)}.")
    result: list[ObjectName] = await run_search(request, names.list_names, request.actor, kind)
    return result


async def count(request: Request[None]) -> Counts:
    result: Counts = await request.services.db.read(counts.counts, request.actor)
    return result


async def list_pending_decisions(request: Request[None]) -> list[PendingDecision]:
    limit = _limit(request, pending_decisions.MAX_LIMIT, pending_decisions.MAX_LIMIT)
    async with heavy_read(request):
        decisions: list[PendingDecision] = await run_search(
            request, pending_decisions.list_pending, request.actor, limit
        )
    return decisions


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/-/search",
        "viewer",
        search,
        "Find anything by name, tag or short id, and jobs by the start of their id",
        style="plain",
        answer=list[SearchResult],
        from_interface=False,
        compress=True,
        query=(
            ("q", "words; each must occur in the name, a tag or the detail"),
            ("kind", f"only these, separated by commas: {', '.join(searching.KINDS)}"),
            ("limit", f"1 to {searching.MAX_LIMIT}, default {searching.DEFAULT_LIMIT}"),
        ),
    ),
    Route(
        "GET",
        "/-/names",
        "viewer",
        list_names,
        f"List the names of all objects of a kind, at most {names.MAX_NAMES:,}",
        style="plain",
        answer=list[ObjectName],
        from_interface=False,
        compress=True,
        query=(("kind", f"required: {', '.join(names.KINDS)}"),),
    ),
    Route(
        "GET",
        "/-/counts",
        "viewer",
        count,
        "Count monitors, jobs, hosts and indicators by state, and your pending decisions",
        style="plain",
        answer=Counts,
        from_interface=False,
    ),
    Route(
        "GET",
        "/-/needs",
        "viewer",
        list_pending_decisions,
        "List approvals and inputs that wait for you, newest first",
        style="plain",
        answer=list[PendingDecision],
        from_interface=False,
        query=(("limit", f"1 to {pending_decisions.MAX_LIMIT}"),),
    ),
    *api_rows.ROUTES,
)
