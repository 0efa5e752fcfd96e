"""What pages need at once, over HTTP."""

from belvedere.board import search as searching
from belvedere.board.search import Found
from belvedere.rest import values
from belvedere.rest.route import Ask, Route


async def search(ask: Ask) -> list[Found]:
    asked = ask.first("kind")
    kinds = tuple(asked.split(",")) if asked else searching.KINDS
    for kind in kinds:
        if kind not in searching.KINDS:
            raise values.bad("kind", f"kind takes {', '.join(searching.KINDS)}.")
    most = values.whole("limit", ask.first("limit") or str(searching.USUAL))
    if not 1 <= most <= searching.MOST:
        raise values.bad("limit", f"limit takes 1 to {searching.MOST}.")
    return await ask.house.db.read(  # type: ignore[no-any-return]
        searching.search, ask.actor, ask.first("q") or "", kinds, most
    )


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
)
