"""All errors that a caller of the API may see.

Refused
  Invalid            the input is wrong; nothing was changed            400
    TooLarge         the body or a field is over its limit              413
    AddressTooLong   the address of the request is over its limit       414
    HeadersTooLarge  the headers of the request are over their limit    431
    BadMediaType     the content type is not supported here             415
    KeyReused        an idempotency key was used with another body      422
  Unauthenticated    no credential, or an invalid one                   401
  Forbidden          the credential has no permission for this          403
  NotFound           does not exist, or in another organization         404
  NotAllowed         the path exists, the method does not               405
  Conflict           not possible in this state, or the name is in use  409
  Stale              the record changed since it was read               412
  TooMany            rate limit; retry after `retry_after_s` seconds    429
  NotSupported       a function of TheEye that Belvedere does not have  501
  Unavailable        the server cannot do it now; try again             503
    StatementTimeout the database ended a statement that took too long  503
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One invalid field."""

    field: str
    message: str


class Refused(Exception):
    """Base class: the request is refused; the message says what to do."""

    code = "refused"

    def __init__(
        self, message: str, *, code: str | None = None, faults: tuple[Fault, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.faults = faults


class Invalid(Refused):
    code = "invalid"


class TooLarge(Invalid):
    code = "too_large"


class AddressTooLong(Invalid):
    code = "address_too_long"


class HeadersTooLarge(Invalid):
    code = "headers_too_large"


class BadMediaType(Invalid):
    code = "unsupported_media_type"


class KeyReused(Invalid):
    code = "idempotency_key_reused"


class Unauthenticated(Refused):
    code = "unauthenticated"


class Forbidden(Refused):
    code = "forbidden"


class NotFound(Refused):
    code = "not_found"


class NotAllowed(Refused):
    code = "method_not_allowed"

    def __init__(self, allow: tuple[str, ...]) -> None:
        super().__init__(f"This path supports {', '.join(allow)}.")
        self.allow = allow


class Conflict(Refused):
    code = "conflict"


class Stale(Refused):
    code = "stale"


class TooMany(Refused):
    code = "too_many_requests"

    def __init__(self, message: str, retry_after_s: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class NotSupported(Refused):
    code = "not_supported"


class Unavailable(Refused):
    code = "unavailable"


class StatementTimeout(Unavailable):
    pass
