"""`GET /-/metrics`, with the metrics token; and the check of that token."""

import hmac

from belvedere.access.request import Request
from belvedere.base.errors import Invalid, Unauthenticated
from belvedere.rest.route import Reply, Route
from belvedere.server.api.health import plain_route
from belvedere.server.http import authentication
from belvedere.server.metrics.collect import Metrics
from belvedere.server.metrics.text_format import MEDIA_TYPE
from belvedere.server.runtime import runtime_of
from belvedere.settings import Settings

MIN_TOKEN = 16


def check_settings(settings: Settings) -> None:
    if settings.metrics_token and len(settings.metrics_token) < MIN_TOKEN:
        raise Invalid(f"BELVEDERE_METRICS_TOKEN must have at least {MIN_TOKEN} characters.")


def is_token(settings: Settings, token: str | None) -> bool:
    expected = settings.metrics_token
    return bool(expected) and hmac.compare_digest((token or "").encode(), expected.encode())


async def read_metrics(request: Request[None]) -> Reply:
    runtime = runtime_of(request)
    token = authentication.bearer(dict(request.starlette.scope["headers"]))
    if not is_token(runtime.settings, token):
        raise Unauthenticated(
            "Send the metrics token of the server: Authorization: Bearer <token>"
            " (BELVEDERE_METRICS_TOKEN)."
        )
    return Reply(await runtime.of(Metrics).text(), media_type=MEDIA_TYPE)


ROUTES: tuple[Route, ...] = (
    plain_route(
        "/-/metrics",
        read_metrics,
        "Show metrics for Prometheus; requires the metrics token",
        bytes,
        "text/plain",
    ),
)
