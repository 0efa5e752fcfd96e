"""Posted incidents, the logo and the subscribers of a status page, for admins."""

from functools import partial

from belvedere.access.request import Request
from belvedere.rest.route import Reply, Route
from belvedere.statuspages import logo, posts, subscribers
from belvedere.statuspages.logo import LogoBody, LogoRecord
from belvedere.statuspages.posts import PostBody, PostedIncident, UpdateBody
from belvedere.statuspages.subscribers import SubscriberRecord

# The image in base64, and the JSON around it.
MAX_LOGO_BODY = logo.MAX_LOGO * 4 // 3 + 1_024


async def list_posts(request: Request[None]) -> list[PostedIncident]:
    rows = await request.services.db.read(posts.list_posts, request.actor, request.path["id"])
    return [posts.to_record(row) for row in rows]


async def post(request: Request[PostBody]) -> Reply:
    row = await request.services.db.write(
        posts.post, request.actor, request.path["id"], request.body
    )
    return Reply(posts.to_record(row), status=201)


async def update(request: Request[UpdateBody]) -> PostedIncident:
    ids = (request.path["id"], request.path["incident_id"])
    return posts.to_record(
        await request.services.db.write(posts.update, request.actor, *ids, request.body)
    )


async def delete(request: Request[None]) -> PostedIncident:
    ids = (request.path["id"], request.path["incident_id"])
    return posts.to_record(await request.services.db.write(posts.delete, request.actor, *ids))


async def put_logo(request: Request[LogoBody]) -> LogoRecord:
    record: LogoRecord = await request.services.db.write(
        logo.put, request.actor, request.path["id"], request.body
    )
    return record


async def delete_logo(request: Request[None]) -> LogoRecord:
    record: LogoRecord = await request.services.db.write(
        logo.delete, request.actor, request.path["id"]
    )
    return record


async def list_subscribers(request: Request[None]) -> list[SubscriberRecord]:
    rows = await request.services.db.read(
        subscribers.list_subscribers, request.actor, request.path["id"]
    )
    return [subscribers.to_record(row) for row in rows]


async def remove_subscriber(request: Request[None]) -> SubscriberRecord:
    ids = (request.path["id"], request.path["subscriber_id"])
    return subscribers.to_record(
        await request.services.db.write(subscribers.remove, request.actor, *ids)
    )


_route = partial(Route, level="admin", from_interface=False)
_INCIDENTS = "/statuspage/{id}/incident"
_SUBSCRIBERS = "/statuspage/{id}/subscriber"

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        _INCIDENTS,
        "manager",
        list_posts,
        "List the incidents that were posted on a status page",
        answer=list[PostedIncident],
        from_interface=False,
    ),
    _route(
        "POST",
        _INCIDENTS,
        handler=post,
        summary="Post an incident on a status page, and mail it to subscribers",
        body=PostBody,
        answer=PostedIncident,
        codes=("too_many_incidents",),
    ),
    _route(
        "POST",
        f"{_INCIDENTS}/{{incident_id}}/update",
        handler=update,
        summary="Add an update to a posted incident, or resolve it",
        body=UpdateBody,
        answer=PostedIncident,
        codes=("too_many_updates",),
    ),
    _route(
        "DELETE",
        f"{_INCIDENTS}/{{incident_id}}",
        handler=delete,
        summary="Delete a posted incident",
        answer=PostedIncident,
    ),
    _route(
        "PUT",
        "/statuspage/{id}/logo",
        handler=put_logo,
        summary="Set the logo of a status page: a PNG, JPEG or WebP image",
        body=LogoBody,
        answer=LogoRecord,
        max_body=MAX_LOGO_BODY,
    ),
    _route(
        "DELETE",
        "/statuspage/{id}/logo",
        handler=delete_logo,
        summary="Remove the logo of a status page",
        answer=LogoRecord,
    ),
    _route(
        "GET",
        _SUBSCRIBERS,
        handler=list_subscribers,
        summary="List the subscribers of a status page",
        answer=list[SubscriberRecord],
    ),
    _route(
        "DELETE",
        f"{_SUBSCRIBERS}/{{subscriber_id}}",
        handler=remove_subscriber,
        summary="Remove a subscriber of a status page",
        answer=SubscriberRecord,
    ),
)
