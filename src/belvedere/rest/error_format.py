"""The JSON format and the status code of every error."""

import logging
from typing import Any

from belvedere.base import errors

STATUS: tuple[tuple[type[errors.Refused], int], ...] = (
    (errors.TooLarge, 413),
    (errors.AddressTooLong, 414),
    (errors.HeadersTooLarge, 431),
    (errors.BadMediaType, 415),
    (errors.KeyReused, 422),
    (errors.Invalid, 400),
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.NotAllowed, 405),
    (errors.Conflict, 409),
    (errors.Stale, 412),
    (errors.TooMany, 429),
    (errors.NotSupported, 501),
    (errors.Unavailable, 503),
    (errors.Refused, 400),
)

log = logging.getLogger("belvedere.server")


def status_of(refusal: errors.Refused) -> int:
    return next(status for kind, status in STATUS if isinstance(refusal, kind))


def body_of(refusal: errors.Refused, request_id: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "statusCode": status_of(refusal),
        "code": refusal.code,
        "message": refusal.message,
    }
    if refusal.faults:
        body["errors"] = [
            {"field": fault.field, "message": fault.message} for fault in refusal.faults
        ]
    body["request_id"] = request_id
    return body


def headers_of(refusal: errors.Refused) -> dict[str, str]:
    if isinstance(refusal, errors.NotAllowed):
        return {"allow": ", ".join(refusal.allow)}
    if isinstance(refusal, errors.TooMany):
        return {"retry-after": str(refusal.retry_after_s)}
    if isinstance(refusal, errors.Unauthenticated):
        return {"www-authenticate": "Bearer"}
    if isinstance(refusal, errors.Unavailable) and refusal.code != "outcome_unknown":
        # Programs repeat a request after a response with this header; one whose outcome is unknown
        # must not be repeated without a check.
        return {"retry-after": "1"}
    return {}


def failure(fault: BaseException, template: str, request_id: str) -> dict[str, Any]:
    """An internal error: the log has the traceback, the caller gets only the request id."""
    log.error("request failed request=%s route=%s", request_id, template, exc_info=fault)
    return {
        "statusCode": 500,
        "code": "internal",
        "message": "Internal error; the server's log has the details under this request_id.",
        "request_id": request_id,
    }
