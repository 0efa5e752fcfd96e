"""What anybody can do on a status page: subscribe, confirm, unsubscribe, read the feed."""

import base64
from functools import partial

import msgspec

from belvedere.access.anonymous_requests import SMALL_BODY, by_address
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Conflict, NotFound
from belvedere.db import Tx
from belvedere.rest.bodies import images
from belvedere.rest.route import Reply, Route
from belvedere.statuspages import feed, logo, service, subscribers
from belvedere.statuspages.api import public
from belvedere.statuspages.logo import Logo
from belvedere.statuspages.subscribers import SubscriptionLimits

LOGO_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"


class SubscriptionRequest(msgspec.Struct, forbid_unknown_fields=True):
    email: str


class SubscriptionToken(msgspec.Struct, forbid_unknown_fields=True):
    """The token from the link in a mail."""

    token: str


class SubscriptionReply(msgspec.Struct):
    message: str


async def admit_subscription(request: AnyRequest) -> None:
    """Only valid requests count, in `subscribe`; all are refused when the limit is reached."""
    slug = request.path["slug"][: subscribers.MAX_SLUG]
    request.services.limits.check(request.actor.address, AttemptKind.LINK)
    request.services.of(SubscriptionLimits).check(request.actor.address, slug)


async def subscribe(request: Request[SubscriptionRequest]) -> Reply:
    """The response is the same for every address: it does not reveal who is subscribed."""
    services, slug = request.services, request.path["slug"]
    email, limits = subscribers.clean_address(request.body.email), services.of(SubscriptionLimits)
    await services.db.read(_check_room, slug)
    if not services.settings.mail:
        message = "This server sends no mail. Use the feed of the page instead."
        raise Conflict(message, code="no_mail")
    limits.count(request.actor.address, slug)
    if limits.may_mail(slug, email):
        # Only some addresses need work here, so it runs after the response.
        services.passwords.run_later(
            services.db.write(
                subscribers.subscribe, services.keyring, services.settings.base_url, slug, email
            )
        )
    text = "Open the link in the e-mail that was sent to this address within a day."
    return Reply(SubscriptionReply(text), status=202)


def _check_room(tx: Tx, slug: str) -> None:
    subscribers.check_room(tx, service.public_row(tx, slug))


async def confirm(request: Request[SubscriptionToken]) -> SubscriptionReply:
    await _redeem(request, subscribers.CONFIRM)
    return SubscriptionReply("You will get an e-mail when an incident is posted.")


async def unsubscribe(request: Request[SubscriptionToken]) -> SubscriptionReply:
    await _redeem(request, subscribers.UNSUBSCRIBE)
    return SubscriptionReply("You will get no more e-mails from this page.")


async def _redeem(request: Request[SubscriptionToken], action: str) -> None:
    services = request.services
    operation = {
        subscribers.CONFIRM: subscribers.confirm,
        subscribers.UNSUBSCRIBE: subscribers.unsubscribe,
    }[action]
    try:
        await services.db.write(
            operation, services.keyring, request.path["slug"], request.body.token
        )
    except NotFound:
        services.limits.record_failure(request.actor.address, kind=AttemptKind.LINK)
        raise


async def show_atom(request: Request[None]) -> Reply:
    page, slug = await public(request), request.path["slug"]
    text = feed.render_atom(page, slug, request.services.settings.base_url)
    return Reply(text, media_type=feed.ATOM_TYPE)


async def show_rss(request: Request[None]) -> Reply:
    page, slug = await public(request), request.path["slug"]
    text = feed.render_rss(page, slug, request.services.settings.base_url)
    return Reply(text, media_type=feed.RSS_TYPE)


async def show_logo(request: Request[None]) -> Reply:
    image: Logo = await request.services.db.read(logo.public_logo, request.path["slug"])
    # It was checked when it was stored; a browser must not run anything in it in any case.
    headers = {"content-security-policy": LOGO_POLICY}
    return Reply(base64.b64decode(image.content), media_type=image.media_type, headers=headers)


_route = partial(Route, level="anonymous", from_interface=False, style="plain")
_post = partial(_route, "POST", answer=SubscriptionReply, max_body=SMALL_BODY)

ROUTES: tuple[Route, ...] = (
    _post(
        "/-/status/{slug}/subscriber",
        handler=subscribe,
        summary="Ask for mails about incidents; the address must be confirmed",
        body=SubscriptionRequest,
        statuses=(202,),
        codes=("no_mail", "too_many_subscribers", "too_many_requests"),
        admit=admit_subscription,
    ),
    _post(
        "/-/status/{slug}/subscriber/confirm",
        handler=confirm,
        summary="Confirm an address with the token from the mail",
        body=SubscriptionToken,
        admit=by_address(AttemptKind.LINK),
    ),
    _post(
        "/-/status/{slug}/subscriber/unsubscribe",
        handler=unsubscribe,
        summary="End a subscription with the token from the mail",
        body=SubscriptionToken,
        admit=by_address(AttemptKind.LINK),
    ),
    _route(
        "GET",
        "/-/status/{slug}/feed.atom",
        handler=show_atom,
        summary="The incidents of a public status page as an Atom feed",
        answer=bytes,
        media=(feed.ATOM_TYPE,),
    ),
    _route(
        "GET",
        "/-/status/{slug}/feed.rss",
        handler=show_rss,
        summary="The incidents of a public status page as RSS 2.0",
        answer=bytes,
        media=(feed.RSS_TYPE,),
    ),
    _route(
        "GET",
        "/-/status/{slug}/logo",
        handler=show_logo,
        summary="The logo of a public status page",
        answer=bytes,
        media=(images.PNG, images.JPEG, images.WEBP),
    ),
)
