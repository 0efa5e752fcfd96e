"""The argument of every handler: the HTTP request, who sends it, and the server's services."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Generic, TypeVar

from belvedere.access.actor import Actor
from belvedere.access.services import Services
from belvedere.base.errors import TooMany
from belvedere.base.fair_queue import LaneFull
from belvedere.rest.request import HttpRequest
from belvedere.rest.response_budget import LIGHT_BYTES, MAX_PAGE_BYTES, RETRY_S

Body = TypeVar("Body")


class Request(HttpRequest, Generic[Body], kw_only=True):
    actor: Actor
    services: Services
    # Decoded and validated by the type in the route; None where the route reads no body.
    body: Body
    # The organization as named in path, query or body, in lower case; None: not named.
    customer: str | None = None


# A function that serves requests of any body.
AnyRequest = Request[Any]


@asynccontextmanager
async def heavy_read(request: AnyRequest, size: int = MAX_PAGE_BYTES) -> AsyncIterator[None]:
    """Wait for a place among the large lists that may be read at the same time; organizations take
    turns. Small lists need no place."""
    async with AsyncExitStack() as stack:
        if size < LIGHT_BYTES:
            yield
            return
        try:
            place = request.services.heavy_reads.place(request.actor.customer_id)
            await stack.enter_async_context(place)
        except LaneFull:
            raise TooMany(
                "Your organization is reading too many large lists. Try again later.",
                RETRY_S,
            ) from None
        yield
