"""Calls that a host makes for somebody: credentials go to the origin that they are for."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.webpages import Site, page, site
from belvedere.agent.checks import http_client, plain_socket
from belvedere.agent.checks.kinds import scraper
from belvedere.agent.checks.outcome import Outcome
from belvedere.jobs import scraper as scraper_task

CANARY = "canary-5ec4e7"
CONFIG: dict[str, Any] = {
    "timeout": 5_000,
    "status_code": "",
    "pattern": "",
    "json_path": "",
    "json_value": None,
    "max_ms": 0,
    "method": "GET",
    "headers": {},
    "body": "",
    "gzip": False,
    "json": False,
}
HEADERS = {
    "Authorization": f"Basic {CANARY}",
    "Cookie": f"session={CANARY}",
    "X-Api-Key": CANARY,
    "X-Custom": CANARY,
    "Accept": "text/plain",
}


async def check(url: str, **config: Any) -> Outcome:
    return await scraper.check({**CONFIG, "url": url, "headers": HEADERS, **config}, {})


@pytest.fixture
def by_port(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], Site]:
    """Which site responds for which host and port, whatever encryption was requested."""
    sites: dict[tuple[str, int], Site] = {}

    async def connect(_: Any, host: str, port: int, tls: Any = None) -> Any:
        return await asyncio.open_connection("127.0.0.1", sites[host, port].port)

    async def connect_socket(_: Any, host: str, port: int) -> Any:
        return await plain_socket.connect_socket({}, "127.0.0.1", sites[host, port].port)

    monkeypatch.setattr(http_client, "connect", connect)
    monkeypatch.setattr(http_client, "connect_socket", connect_socket)
    monkeypatch.setattr(http_client, "trust", lambda: None)
    return sites


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("http://shop.example/", ("shop.example", 80)),
        ("https://evil.example/", ("evil.example", 443)),
        ("https://shop.example:8443/", ("shop.example", 8443)),
        ("//evil.example/", ("evil.example", 443)),
        ("https://shop.example@evil.example/", ("evil.example", 443)),
        ("https://x:y@shop.example.evil.example/", ("shop.example.evil.example", 443)),
    ],
)
async def test_a_check_shows_its_credentials_to_no_other_origin(
    by_port: dict[tuple[str, int], Site], target: str, place: tuple[str, int]
) -> None:
    async with site() as shop, site() as other:
        by_port["shop.example", 443], by_port[place] = shop, other
        shop.pages["/"] = page(status="302 Found", Location=target)
        assert (await check("https://shop.example/")).state == "normal"
        assert shop.asked[0].count(CANARY) == 4
        assert CANARY not in other.asked[0] and "Accept: text/plain" in other.asked[0]


async def test_a_check_redirected_back_does_not_send_credentials_again(
    by_port: dict[tuple[str, int], Site],
) -> None:
    async with site() as shop, site() as other:
        by_port["shop.example", 443], by_port["shop.example", 80] = shop, other
        shop.pages["/"] = page(status="302 Found", Location="http://shop.example/")
        other.pages["/"] = page(status="302 Found", Location="https://shop.example/end")
        shop.pages["/end"] = page()
        assert (await check("https://shop.example/")).state == "normal"
        assert CANARY not in other.asked[0] + shop.asked[1]


async def test_a_check_stays_itself_within_its_origin(
    by_port: dict[tuple[str, int], Site],
) -> None:
    async with site() as shop:
        by_port["shop.example", 443] = shop
        shop.pages["/"] = page(status="302 Found", Location="https://shop.example:443/end")
        shop.pages["/end"] = page()
        assert (await check("https://SHOP.example/")).state == "normal"
        assert CANARY in shop.asked[1]


async def test_a_body_is_not_sent_to_another_origin(by_port: dict[tuple[str, int], Site]) -> None:
    async with site() as shop, site() as other:
        by_port["shop.example", 443], by_port["shop.example", 80] = shop, other
        shop.pages["/"] = page(status="307 Temporary Redirect", Location="http://shop.example/")
        outcome = await check("https://shop.example/", method="POST", body=CANARY)
        assert outcome.state == "failure" and "body" in outcome.message
        assert other.asked == []


async def test_a_scraper_task_follows_no_redirect(tmp_path: Path) -> None:
    """The redirect is the response; its target gets nothing."""
    script = tmp_path / "scraper.py"
    script.write_bytes(scraper_task.source())
    async with site() as actual_site, site() as other:
        actual_site.pages["/"] = page(status="302 Found", Location=f"{other.url}/")
        body = {
            "url": f"{actual_site.url}/",
            "method": "GET",
            "headers": HEADERS,
            "body": "",
            "json": False,
            "timeout_s": 5,
            "status_code": "302",
            "pattern": "",
            "keeps_body": False,
        }
        words = [sys.executable, "-I", str(script), json.dumps(body)]
        ran = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert CANARY in actual_site.asked[0] and other.asked == []
