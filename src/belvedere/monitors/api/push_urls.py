"""The URL of a push monitor over HTTP: calling it, reading it, changing it."""

import msgspec

from belvedere.access.limits import anonymous_requests
from belvedere.access.limits.rate_limits import Kind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden
from belvedere.monitors import push
from belvedere.monitors.push import Pushed
from belvedere.rest.route import Route


class PushBody(msgspec.Struct):
    state: str = ""
    message: str = ""


class PushCredentials(msgspec.Struct):
    """The secret of a push monitor, and the URL to be called."""

    id: str
    secret: str
    url: str


class RotateBody(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the old URL still works."""

    overlap: int = 0


async def admit_push(request: AnyRequest) -> None:
    await anonymous_requests.by_secret(request, "monitor", request.path["id"])


async def push_state(request: Request[None | PushBody]) -> Pushed:
    body = request.body or PushBody()
    said = (
        body.state or request.first("state") or "",
        body.message or request.first("message") or "",
    )
    limits, address, target = request.services.limits, request.actor.address, request.path["id"]
    proof = request.services.keyring.digest(request.path["secret"])
    try:
        pushed: Pushed = await request.services.db.write(
            push.push,
            request.services.keyring,
            request.customer,
            request.path["id"],
            request.path["secret"],
            said,
        )
    except Forbidden:
        limits.wrong(address, kind=Kind.SECRET, target=target, proof=proof)
        raise
    limits.right(proof)
    return pushed


def _credentials(request: AnyRequest, secret: str) -> PushCredentials:
    monitor_id = request.path["id"]
    url = f"{request.services.settings.base_url}/monitor/{monitor_id}/push/{secret}"
    return PushCredentials(monitor_id, secret, url)


async def reveal(request: Request[None]) -> PushCredentials:
    secret = await request.services.db.write(
        push.reveal, request.services.keyring, request.actor, request.path["id"]
    )
    return _credentials(request, secret)


async def rotate(request: Request[RotateBody]) -> PushCredentials:
    secret = await request.services.db.write(
        push.rotate,
        request.services.keyring,
        request.actor,
        request.path["id"],
        request.body.overlap,
    )
    return _credentials(request, secret)


_PUSHED = (("state", "normal or failure; normal without"), ("message", "a sentence to keep"))

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/monitor/{id}/credentials",
        "admin",
        reveal,
        "Read the URL of a push monitor; the reading is audited",
        answer=PushCredentials,
        codes=("no_push_url",),
        known=False,
    ),
    Route(
        "POST",
        "/monitor/{id}/credentials/rotate",
        "admin",
        rotate,
        "Change the URL of a push monitor",
        body=RotateBody,
        answer=PushCredentials,
        codes=("no_push_url",),
        known=False,
    ),
    Route(
        "GET",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        summary="Say that what a push monitor watches is alive",
        answer=Pushed,
        codes=("monitor_paused",),
        query=_PUSHED,
    ),
    Route(
        "POST",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        max_body=anonymous_requests.SMALL_BODY,
        summary="Say how it is with what a push monitor watches",
        body=PushBody,
        answer=Pushed,
        codes=("monitor_paused",),
        query=_PUSHED,
    ),
)
