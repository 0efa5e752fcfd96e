"""What the doors of this room have in common: the organization is the one of whoever asks."""

from functools import partial
from typing import Any

from belvedere.access.limits import anonymous_requests
from belvedere.access.limits.rate_limits import Kind
from belvedere.rest.route import Route

plain = partial(Route, style="plain")


def anonymous(kind: Kind) -> dict[str, Any]:
    """Options of anonymous routes with a body: it is small, and the limit of this kind for the
    address comes first."""
    return {"admit": anonymous_requests.by_address(kind), "max_body": anonymous_requests.SMALL_BODY}
