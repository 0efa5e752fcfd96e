"""Schemathesis generates requests from the OpenAPI document, every principal sends them, and every
response is checked."""

import asyncio
import gzip
import itertools
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import requests
from schemathesis import Case, Config, Response, openapi
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core import NotSet

from belvedere.base.errors import Refused
from contract.client import Client
from contract.client import Response as ApiResponse
from contract.fixtures_all_kinds import AllKinds
from contract.matrix import OK, PathOwner, Principal, expected_status
from contract.serving import LogRecorder
from contract.world import World

BASE = "http://belvedere.test"
# We decide who calls; Schemathesis would generate tokens of its own.
CONFIG = {"generation": {"with-security-parameters": False}}
# 501 is the response if a feature of TheEye does not exist; `conformity` checks its code.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Refusals that come before authentication.
BEFORE = frozenset({"malformed_query", "no_such_path", "method_not_allowed", "two_tokens"})


@dataclass(frozen=True)
class PreparedCase:
    """A case as it is sent."""

    method: str
    target: str
    raw: bytes
    headers: dict[str, str]
    prepared: requests.PreparedRequest

    def to(self, address: str) -> "PreparedCase":
        """The same with another path; its query is placed before ours."""
        query = urlsplit(self.target).query
        joint = "&" if "?" in address else "?"
        return replace(self, target=f"{address}{joint}{query}" if query else address)


def letter_of(case: Case[Any]) -> PreparedCase:
    prepared = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
    parts, raw = urlsplit(str(prepared.url)), prepared.body or b""
    assert isinstance(raw, bytes | str)
    return PreparedCase(
        str(prepared.method),
        f"{parts.path}?{parts.query}" if parts.query else parts.path,
        raw.encode() if isinstance(raw, str) else raw,
        {name.lower(): str(value) for name, value in prepared.headers.items()},
        prepared,
    )


class SchemathesisRun:
    """All principals at one server. Errors of its responses are collected, one of each kind."""

    def __init__(
        self, world: World, fixtures: AllKinds, watch: LogRecorder, runner: asyncio.Runner
    ) -> None:
        self.world, self.fixtures = world, fixtures
        self._watch = watch
        self._runner = runner
        self._number = itertools.count()
        # A document of its own: the other one serves all other tests.
        document = deepcopy(world.conformity.document)
        self.schema = openapi.from_dict(document, config=Config.from_dict(CONFIG))
        self.faults: dict[str, str] = {}
        self.statuses: Counter[int] = Counter()

    def send(
        self, case: Case[Any], letter: PreparedCase, principal: Principal, which: PathOwner | None
    ) -> Response:
        """`which` is whose id the path contains; None if it is unknown."""
        answer = self._request(letter, principal)
        self.statuses[answer.status] += 1
        response = response_of(answer, letter)
        try:
            self._judge(letter, answer, principal, which)
            case.validate_response(response, checks=CHECKS[1:] if answer.status == 501 else CHECKS)
        except (AssertionError, BaseExceptionGroup) as fault:
            text = f"{letter.target[:300]} {letter.raw[:300]!r} as {principal.name}: {fault}"
            kind = f"{case.operation.label} {answer.status} {str(fault)[:60]}"
            self.faults.setdefault(kind, f"{text[:1_200]}\n{self._trace(answer)}")
        return response

    def _trace(self, answer: ApiResponse) -> str:
        """The traceback of an internal error, from the log."""
        if answer.status < 500:
            return ""
        traces = [line for line in self._watch.lines if "Traceback" in line]
        return traces[-1][-2_000:] if traces else ""

    def _request(self, letter: PreparedCase, principal: Principal) -> ApiResponse:
        number = next(self._number)
        client = Client(
            self.world.app,
            self.fixtures.tokens[principal.name],
            # An error found for one principal does not stop the others.
            address=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
            hangs_up=True,
        )
        response = client.request(
            letter.method, letter.target, raw=letter.raw, headers=letter.headers
        )
        return _decompress(self._runner.run(response))

    def _judge(
        self,
        letter: PreparedCase,
        answer: ApiResponse,
        principal: Principal,
        which: PathOwner | None,
    ) -> None:
        """In addition to the checks of Schemathesis: our own rules, and no principal gets access
        without permission."""
        self.world.conformity(letter.method, letter.target, answer)
        path = letter.target.partition("?")[0].encode()
        try:
            route = self.world.runtime.router.match(letter.method, path).route
        except Refused:
            assert answer.status in (404, 405), answer.status
            return
        expected = expected_status(route, principal, which or PathOwner.OWN)
        if expected == "401":
            assert answer.status == 401 or answer.code in BEFORE, f"{answer.status}, not 401"
        if expected != OK and which is not None:
            assert answer.status >= 400, f"{answer.status}, not {expected}"


def _decompress(answer: ApiResponse) -> ApiResponse:
    """The same response without compression, as a client reads it."""
    if answer.headers.get("content-encoding") != "gzip":
        return answer
    headers = {name: text for name, text in answer.headers.items() if name != "content-encoding"}
    return replace(answer, headers=headers, body=gzip.decompress(answer.body))


def mend(case: Case[Any], good: Any, number: int) -> None:
    """Replace one field of the generated body by a valid one, so that the request is processed
    further."""
    if not isinstance(good, dict) or not isinstance(case.body, dict | NotSet):
        return
    made_up = case.body if isinstance(case.body, dict) else {}
    names = sorted(made_up)[number % max(1, len(made_up)) :][:1]
    case.body = {**good, **{name: made_up[name] for name in names}}
    case.media_type = "application/json"


def response_of(answer: ApiResponse, letter: PreparedCase) -> Response:
    headers = {name: [value] for name, value in answer.headers.items()}
    return Response(answer.status, headers, answer.body, letter.prepared, 0.0, True)
