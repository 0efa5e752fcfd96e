"""Memberships with the caller's e-mail address that the caller has not accepted yet."""

import msgspec

from belvedere.access.api.route_builders import plain_route
from belvedere.access.customers import consent
from belvedere.access.customers.consent import Offer
from belvedere.access.request import Request
from belvedere.base.clock import iso


class OfferRecord(msgspec.Struct):
    """An organization that has this e-mail address as a member, under an account of its own."""

    id: str
    customer_id: str
    customer_name: str
    credential: str
    # True: nobody has used it yet. False: somebody signs in there, by a link or a provider.
    invitation: bool
    creation_date: str


class Acceptance(msgspec.Struct, forbid_unknown_fields=True):
    id: str


async def listing(request: Request[None]) -> list[OfferRecord]:
    return [
        _record(offer)
        for offer in await request.services.db.read(consent.list_offers, request.actor)
    ]


async def accept(request: Request[Acceptance]) -> OfferRecord:
    return _record(await request.services.db.write(consent.accept, request.actor, request.body.id))


async def decline(request: Request[None]) -> OfferRecord:
    return _record(
        await request.services.db.write(consent.decline, request.actor, request.path["id"])
    )


def _record(offer: Offer) -> OfferRecord:
    return OfferRecord(
        offer.id,
        offer.customer_id,
        offer.customer_name,
        offer.level,
        bool(offer.is_invitation),
        iso(offer.created_at),
    )


_PATH = "/api/session/invitation"

ROUTES = (
    plain_route(
        "GET",
        _PATH,
        "viewer",
        listing,
        "List memberships with my e-mail address that I have not accepted",
        answer=list[OfferRecord],
        from_interface=False,
        people=True,
    ),
    plain_route(
        "POST",
        _PATH,
        "viewer",
        accept,
        "Accept a membership for my own account",
        body=Acceptance,
        answer=OfferRecord,
        codes=("nothing_to_accept",),
        from_interface=False,
        people=True,
    ),
    plain_route(
        "DELETE",
        f"{_PATH}/{{id}}",
        "viewer",
        decline,
        "Decline a membership for my own account",
        answer=OfferRecord,
        codes=("not_found",),
        from_interface=False,
        people=True,
    ),
)
