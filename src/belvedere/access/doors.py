"""What the doors of this room have in common: the organization is the one of whoever asks."""

from functools import partial
from typing import Any

from belvedere.access import admission
from belvedere.access.limits import Kind
from belvedere.rest.route import Route

plain = partial(Route, style="plain")


def anonymous(kind: Kind | None) -> dict[str, Any]:
    """Options of anonymous routes with a body: it is small, and the limit of this kind for the
    address comes first. None: the limit depends on what the body says."""
    admit = None if kind is None else admission.by_address(kind)
    return {"admit": admit, "max_body": admission.SMALL_BODY}
