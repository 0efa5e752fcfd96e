"""A web check: status, text, JSON value and time of a response."""

import json
import re
import ssl
import time
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

from belvedere.agent.checks.http_client import (
    MAX_SINGLE_WRITE,
    Answer,
    BadAnswer,
    WebRequest,
    fetch,
    prepare,
)
from belvedere.agent.checks.outcome import Outcome, explain, masked
from belvedere.base.errors import Invalid
from belvedere.base.text.regex import compile_pattern
from belvedere.base.text.search import CooperativeSearch, TooCostly

MAX_REDIRECTS = 5
# Headers that are sent to another origin after a redirect.
CROSS_ORIGIN_HEADERS = ("accept", "content-type")
REDIRECTS = (301, 302, 303, 307, 308)
# The request of a monitor, in the memory of its check.
REQUEST = "request"
_PART = re.compile(r"\.([\w-]+)|\[(\d+)\]")


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    if config.get("problem"):
        return _failure("scraper:config:secret", config["problem"])
    outcome = await _check(config, memory)
    outcome.message = masked(outcome.message, config.get("masks", ()))
    return outcome


async def _check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    began = time.monotonic()
    try:
        answer = await _fetch(config, memory)
    except ssl.SSLCertVerificationError as fault:
        return _failure(
            "scraper:error:tls", f"The certificate is not valid: {fault.verify_message}"
        )
    except (OSError, BadAnswer, ValueError) as fault:
        return _failure("scraper:error:request", explain(fault))
    took_ms = (time.monotonic() - began) * 1_000
    event, message = await _fault(config, answer, took_ms)
    return Outcome(
        "failure" if event else "normal",
        event or "success",
        message or f"status {answer.status} in {took_ms:.0f} ms",
        {"status": answer.status, "ms": round(took_ms, 1), "bytes": len(answer.body)},
        {"ms": took_ms},
    )


def _failure(event: str, message: str) -> Outcome:
    return Outcome("failure", event, message)


async def _fetch(config: dict[str, Any], memory: dict[str, Any]) -> Answer:
    request: WebRequest | None = memory.get(REQUEST)
    if request is None:
        request = _first_request(config)
        # A longer one has a body, which the configuration already contains: not stored twice.
        if len(request.data) <= MAX_SINGLE_WRITE:
            memory[REQUEST] = request
    answer = await fetch(config, request)
    return answer if _redirection(config, answer) is None else await _follow(config, answer)


def _first_request(config: dict[str, Any]) -> WebRequest:
    return prepare(
        config["url"],
        config["method"],
        _headers(config),
        config["body"].encode(),
        gzip=config["gzip"],
    )


def _headers(config: dict[str, Any]) -> dict[str, str]:
    headers = dict(config["headers"])
    if config["json"] and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return headers


def _redirection(config: dict[str, Any], answer: Answer) -> str | None:
    """Where the response redirects to. One with the expected status is a normal response."""
    if answer.status not in REDIRECTS or _is_expected(config["status_code"], answer.status):
        return None
    return answer.headers.get("location")


async def _follow(config: dict[str, Any], answer: Answer) -> Answer:
    """The response at the end of the redirects."""
    url, method, body = config["url"], config["method"], config["body"].encode()
    headers = _headers(config)
    for _ in range(MAX_REDIRECTS):
        to = _redirection(config, answer)
        if to is None:
            return answer
        target = urljoin(url, to)
        if not target.startswith(("http://", "https://")):
            raise BadAnswer("The redirect does not lead to an HTTP URL.")
        if answer.status in (301, 302, 303) and method not in ("GET", "HEAD"):
            method, body = "GET", b""
        if _origin(target) != _origin(url):
            if body:
                raise BadAnswer("The redirect would send the request body to another origin.")
            # Credentials are for the origin that they were configured for, under any name.
            headers = {n: v for n, v in headers.items() if n.lower() in CROSS_ORIGIN_HEADERS}
        url = target
        answer = await fetch(config, prepare(url, method, headers, body, gzip=config["gzip"]))
    if _redirection(config, answer) is not None:
        raise BadAnswer(f"More than {MAX_REDIRECTS} redirects.")
    return answer


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return (
        parts.scheme,
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
    )


@lru_cache(maxsize=1_024)
def _is_expected(expected: str, status: int) -> bool:
    return bool(expected) and compile_pattern(expected).matches(str(status))


async def _fault(config: dict[str, Any], answer: Answer, took_ms: float) -> tuple[str, str]:
    """Event name and message of the first mismatch; empty without one."""
    expected = config["status_code"]
    if expected and not _is_expected(expected, answer.status):
        return "scraper:mismatch:status_code", f"status {answer.status}, expected {expected}"
    if not expected and answer.status >= 400:
        return "scraper:mismatch:status_code", f"status {answer.status}"
    if config["pattern"] or config["json_path"]:
        event, message = await _text_fault(config, answer.body.decode("utf-8", "replace"))
        if event:
            return event, message
    if config["max_ms"] and took_ms > config["max_ms"]:
        return "scraper:slow", f"took {took_ms:.0f} ms, limit {config['max_ms']} ms"
    return "", ""


async def _text_fault(config: dict[str, Any], text: str) -> tuple[str, str]:
    if config["pattern"]:
        try:
            is_match = await CooperativeSearch(compile_pattern(config["pattern"])).contains_match(
                text
            )
        except (TooCostly, Invalid) as refusal:
            return "scraper:error:pattern", explain(refusal)
        if not is_match:
            return "scraper:mismatch:pattern", "the pattern does not match the response"
    fault = _json_fault(config, text) if config["json_path"] else ""
    return ("scraper:mismatch:json", fault) if fault else ("", "")


def _json_fault(config: dict[str, Any], text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "the response is not JSON"
    for name, index in _PART.findall(config["json_path"]):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return f"{config['json_path']} does not exist in the response"
    expected = config["json_value"]
    actual = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    if expected is not None and actual != expected:
        return f"{config['json_path']} is {actual[:100]}, expected {expected[:100]}"
    return ""
