"""The one tree of errors that a person may see.

Refused
  Invalid            the input is wrong; nothing was changed            400
    TooLarge         the body or a field is over its limit              413
    AddressTooLong   the address of the request is over its limit       414
    HeadersTooLarge  the headers of the request are over their limit    431
    BadMediaType     the content type cannot be read here               415
    KeyReused        an idempotency key came back with another body     422
  Unauthenticated    no credential, or one that is not good             401
  Forbidden          a good credential that may not do this             403
  NotFound           not there, or another organization's               404
  NotAllowed         the path exists, the method does not               405
  Conflict           the wrong moment, or the name is taken             409
  Stale              the record changed since it was read               412
  TooMany            slow down; `retry_after_s` says how long           429
  Unavailable        the server cannot do it now; try again             503
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One field at fault."""

    field: str
    message: str


class Refused(Exception):
    """The root: a refusal that says what to do next."""

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
        super().__init__(f"This path takes {', '.join(allow)}.")
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


class Unavailable(Refused):
    code = "unavailable"
