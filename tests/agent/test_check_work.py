"""The work of an agent for a web check, counted."""

import socket
import sys
from typing import Any
from unittest import mock

import pytest

from agent.test_checks_scraper import DEFAULTS
from agent.webpages import page, site
from belvedere.agent.checks import http_client, plain_socket
from belvedere.agent.checks.kinds import scraper
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.monitoring.scheduler import perform
from belvedere.base.text.regex import compile_pattern
from belvedere.protocol import MonitorCheck

# Without connecting, with Python 3.11. It was 198 before requests were prepared.
MAX_CALLS = 120


class RepeatedCheck:
    """A monitor that is checked again and again."""

    def __init__(self, url: str, **config: Any) -> None:
        fields = {**DEFAULTS, "url": url, "status_code": "200", **config}
        self._monitor = MonitorCheck("m", "scraper", 1, 60_000, fields)
        self._memory: dict[str, Any] = {}

    async def run(self) -> Outcome:
        return await perform(self._monitor, scraper.check, self._memory)


async def test_a_web_check_takes_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The response is there at once: waiting for it takes more or fewer calls by chance."""
    pairs = [socket.socketpair() for _ in range(2)]
    for ours, peer in pairs:
        ours.setblocking(False)
        peer.sendall(page())
    sockets = iter([ours for ours, _ in pairs])

    async def connect(*_: Any) -> socket.socket:
        return next(sockets)

    monkeypatch.setattr(plain_socket, "_connect", connect)
    check = RepeatedCheck("http://192.0.2.1/")
    assert (await check.run()).state == "normal"
    calls = await count_calls(check)
    for _, peer in pairs:
        peer.close()
    assert 0 < calls <= MAX_CALLS


async def count_calls(check: RepeatedCheck) -> int:
    calls = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        await check.run()
    finally:
        sys.setprofile(None)
    return calls


async def test_the_request_of_a_monitor_is_built_once() -> None:
    async with site() as actual_site:
        check = RepeatedCheck(actual_site.url)
        with mock.patch.object(http_client, "_request", wraps=http_client._request) as build:
            for _ in range(3):
                assert (await check.run()).state == "normal"
        assert build.call_count == 1
        assert len(actual_site.asked) == 3 and len(set(actual_site.asked)) == 1


async def test_a_redirected_check_begins_at_its_own_url_again() -> None:
    async with site() as actual_site:
        actual_site.pages["/old"] = page(status="302 Found", Location="/")
        check = RepeatedCheck(f"{actual_site.url}/old")
        for _ in range(2):
            assert (await check.run()).state == "normal"
        paths = [request.split(" ")[1] for request in actual_site.asked]
        assert paths == ["/old", "/", "/old", "/"]


async def test_a_long_request_is_not_stored_twice() -> None:
    """Its body is part of the configuration."""
    async with site() as actual_site:
        actual_site.pages["/"] = page(status="413 Too Large")
        check = RepeatedCheck(actual_site.url, method="POST", body="x" * 20_000)
        await check.run()
        assert check._memory == {}


async def test_the_pattern_of_a_status_is_searched_once() -> None:
    scraper._is_expected.cache_clear()
    async with site() as actual_site:
        check = RepeatedCheck(actual_site.url, status_code="2..")
        with mock.patch.object(scraper, "compile_pattern", wraps=compile_pattern) as search:
            for _ in range(3):
                assert (await check.run()).state == "normal"
            actual_site.pages["/"] = page(status="404 Gone")
            assert (await check.run()).state == "failure"
        assert search.call_count == 2


async def test_a_body_that_nobody_looks_into_is_not_decoded() -> None:
    async with site() as actual_site:
        with mock.patch.object(scraper, "_text_fault", wraps=scraper._text_fault) as look:
            await RepeatedCheck(actual_site.url).run()
            assert look.call_count == 0
            await RepeatedCheck(actual_site.url, pattern="hello").run()
            assert look.call_count == 1
