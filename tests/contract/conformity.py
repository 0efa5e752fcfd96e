"""Every response is compared with the OpenAPI document and with general rules of HTTP."""

import re
from functools import cache
from typing import Any

from belvedere.base.errors import Refused
from belvedere.rest.route import Route
from belvedere.server.http import openapi
from belvedere.server.http.routing import Router
from contract.client import Response
from contract.schema import Checker

SECURITY_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
# Refusals that each route declares; the others are the same everywhere.
NAMED = frozenset({409, 412, 413, 415, 422})


class Conformity:
    """Called with every response that a client gets; raises if the document and the response
    differ."""

    def __init__(self, table: Router) -> None:
        self._table = table
        self.document = _openapi_document(table.routes)
        self._checker = Checker(self.document)

    def __call__(self, method: str, target: str, answer: Response) -> None:
        where = f"{method} {target.partition('?')[0]}: {answer.status}"
        is_unsupported = answer.status == 501 and answer.code == "not_supported"
        assert answer.status < 500 or is_unsupported, f"{where} {answer.body!r}"
        _check_security_headers(answer, where)
        if answer.status >= 400 and answer.status != 416:
            self._check_refusal(answer, where)
        operation = self._operation(method, target)
        if operation is not None and method != "OPTIONS":
            self._check_described(operation, answer, where)

    def _operation(self, method: str, target: str) -> Any:
        try:
            match = self._table.match(method, target.partition("?")[0].encode())
        except Refused:
            return None
        path = match.route.path if match.customer is None else "/{customer}" + match.route.path
        # Pages are not part of the interface, so the document does not describe them.
        return self.document["paths"].get(path, {}).get(method.lower())

    def _check_refusal(self, answer: Response, where: str) -> None:
        record = answer.json
        assert record["statusCode"] == answer.status, where
        assert re.fullmatch(r"[a-z_]+", record["code"]), where
        assert record["request_id"] == answer.headers["x-request-id"], where
        assert record["message"].strip().endswith((".", "!", "?", "…")), record["message"]
        shape = {"$ref": "#/components/schemas/ErrorRecord"}
        assert list(self._checker.faults(record, shape)) == [], where

    def _check_described(self, operation: Any, answer: Response, where: str) -> None:
        described = operation["responses"].get(str(answer.status))
        assert described is not None, f"{where} is not described: {answer.body[:300]!r}"
        if answer.status in NAMED:
            words = described["description"].split(", ")
            assert answer.code in words, f"{where} does not name {answer.code}"
        if answer.status == 204:
            assert answer.body == b"" and "content-type" not in answer.headers, where
            assert "content" not in described, where
            return
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in described["content"], f"{where} is {kind}"
        schema = described["content"][kind].get("schema", {})
        if kind == "application/json":
            faults = list(self._checker.faults(answer.json, schema))
            assert faults == [], f"{where} {faults[:5]}"


@cache
def _openapi_document(routes: tuple[Route, ...]) -> dict[str, Any]:
    """Written once for all tests: it takes a tenth of a second, and there are thousands of them."""
    return openapi.document(Router(routes), "http://belvedere.test")


def _check_security_headers(answer: Response, where: str) -> None:
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers.get(name) == value, f"{where} lacks {name}"
    policy = answer.headers.get("content-security-policy", "")
    assert "frame-ancestors 'none'" in policy and "base-uri" in policy, f"{where}: {policy}"
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"]), where
    assert "access-control-allow-credentials" not in answer.headers, where
    assert "server" not in answer.headers, where
