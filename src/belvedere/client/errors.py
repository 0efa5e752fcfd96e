"""The errors that a request raises, as part of the common error hierarchy.

Refused
  Problem                  the server responded with an error status
    ServerUnreachable      no response: wrong address, server down, network failure
"""

import json
from http import HTTPStatus

from belvedere.base.errors import Fault, Refused


class Problem(Refused):
    """An error response of the server: status, stable code, message, invalid fields."""

    code = "problem"

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        faults: tuple[Fault, ...] = (),
        request_id: str = "",
    ) -> None:
        super().__init__(message, code=code, faults=faults)
        self.status = status
        # The server's log has the details under this id.
        self.request_id = request_id


class ServerUnreachable(Problem):
    """No response: the request may or may not have arrived."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "unreachable", message)


def problem_from_response(status: int, body: bytes) -> Problem:
    """The problem in an error response; of a proxy's own page only the status is used."""
    try:
        record = json.loads(body)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("message"), str):
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "(unknown status)"
        return Problem(status, f"http_{status}", f"The server responded with {status} {phrase}.")
    return Problem(
        status,
        str(record.get("code", f"http_{status}")),
        record["message"],
        tuple(_fault(entry) for entry in record.get("errors") or ()),
        str(record.get("request_id", "")),
    )


def _fault(entry: object) -> Fault:
    if not isinstance(entry, dict):
        return Fault("", str(entry))
    return Fault(str(entry.get("field", "")), str(entry.get("message", "")))
