"""Endpoints of push monitors: call the push URL, read it, rotate its secret."""

import msgspec

from belvedere.access import anonymous_requests
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden
from belvedere.monitors import push
from belvedere.monitors.push import PushResult
from belvedere.rest.route import Route


class PushBody(msgspec.Struct):
    state: str = ""
    message: str = ""


class PushCredentials(msgspec.Struct):
    """The secret of a push monitor, and its push URL."""

    id: str
    secret: str
    url: str


class RotatePushUrlBody(msgspec.Struct, forbid_unknown_fields=True):
    """`overlap`: for how many seconds the old URL still works."""

    overlap: int = 0


async def admit_push(request: AnyRequest) -> None:
    await anonymous_requests.by_secret(request, "monitor", request.path["id"])


async def push_state(request: Request[None | PushBody]) -> PushResult:
    body = request.body or PushBody()
    report = (
        body.state or request.first("state") or "",
        body.message or request.first("message") or "",
    )
    limits, address, target = request.services.limits, request.actor.address, request.path["id"]
    proof = request.services.keyring.digest(request.path["secret"])
    try:
        pushed: PushResult = await request.services.db.write(
            push.push,
            request.services.keyring,
            request.customer,
            request.path["id"],
            request.path["secret"],
            report,
        )
    except Forbidden:
        limits.record_failure(address, kind=AttemptKind.SECRET, target=target, proof=proof)
        raise
    limits.record_success(proof)
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


async def rotate(request: Request[RotatePushUrlBody]) -> PushCredentials:
    secret = await request.services.db.write(
        push.rotate,
        request.services.keyring,
        request.actor,
        request.path["id"],
        request.body.overlap,
    )
    return _credentials(request, secret)


_PUSH_QUERY = (
    ("state", "normal or failure; default: normal"),
    ("message", "text to store with the result"),
)

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/monitor/{id}/credentials",
        "admin",
        reveal,
        "Read the URL of a push monitor; this is audited",
        answer=PushCredentials,
        codes=("no_push_url",),
        from_interface=False,
    ),
    Route(
        "POST",
        "/monitor/{id}/credentials/rotate",
        "admin",
        rotate,
        "Rotate the secret in the URL of a push monitor",
        body=RotatePushUrlBody,
        answer=PushCredentials,
        codes=("no_push_url",),
        from_interface=False,
    ),
    Route(
        "GET",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        summary="Report a state to a push monitor",
        answer=PushResult,
        codes=("monitor_paused",),
        query=_PUSH_QUERY,
    ),
    Route(
        "POST",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        max_body=anonymous_requests.SMALL_BODY,
        summary="Report a state and a message to a push monitor",
        body=PushBody,
        answer=PushResult,
        codes=("monitor_paused",),
        query=_PUSH_QUERY,
    ),
)
