"""What a call raises, as branches of the one tree of errors.

Refused
  Problem            the server refused, with its status
    Unreachable      no answer came: wrong address, server down, network cut
"""

import json
from http import HTTPStatus
from typing import Any

from belvedere.base.errors import Fault, Refused


class Problem(Refused):
    """A refusal of the server: its status, its stable code word, its sentence, fields at fault."""

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
        # Under this the server's own log tells more.
        self.request_id = request_id


class Unreachable(Problem):
    """No answer: the request may or may not have arrived."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "unreachable", message)


def problem_of(status: int, body: bytes) -> Problem:
    """The refusal in an error answer; a proxy's page gives its status and nothing else."""
    try:
        record = json.loads(body)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("message"), str):
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "with an error"
        return Problem(status, f"http_{status}", f"The server answered {status} {phrase}.")
    return Problem(
        status,
        str(record.get("code", f"http_{status}")),
        record["message"],
        tuple(_fault(each) for each in record.get("errors") or ()),
        str(record.get("request_id", "")),
    )


def _fault(told: Any) -> Fault:
    if not isinstance(told, dict):
        return Fault("", str(told))
    return Fault(str(told.get("field", "")), str(told.get("message", "")))
