"""The web check, against a server whose responses the test chooses."""

import asyncio
import time
import zlib
from typing import Any

import pytest

from agent.webpages import page, site
from belvedere.agent.checks.kinds.scraper import check
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.monitoring.scheduler import perform
from belvedere.protocol import MonitorCheck

DEFAULTS: dict[str, Any] = {
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
    "parser": "",
}


async def scrape(url: str, **config: Any) -> Outcome:
    monitor_check = MonitorCheck("m", "scraper", 1, 60_000, {**DEFAULTS, "url": url, **config})
    return await perform(monitor_check, check, {})


async def test_a_web_check_reports_status_and_time() -> None:
    async with site() as actual_site:
        outcome = await scrape(actual_site.url, status_code="200")
        assert (outcome.state, outcome.event) == ("normal", "success")
        assert outcome.data["status"] == 200 and outcome.measured["ms"] > 0
        assert actual_site.asked[0].startswith("GET / HTTP/1.1\r\nHost: 127.0.0.1:")


@pytest.mark.parametrize(
    ("expected", "state"),
    [
        ("200", "normal"),
        ("2..", "normal"),
        ("20", "failure"),
        ("404|200", "normal"),
        ("", "normal"),
    ],
)
async def test_the_pattern_must_match_the_complete_status(expected: str, state: str) -> None:
    async with site() as actual_site:
        assert (await scrape(actual_site.url, status_code=expected)).state == state


async def test_without_an_expected_status_errors_are_failures() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(status="500 Oh no")
        outcome = await scrape(actual_site.url)
        assert (outcome.state, outcome.message) == ("failure", "status 500")
        assert outcome.event == "scraper:mismatch:status_code"


async def test_the_pattern_is_looked_for_anywhere() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(b"x" * 300_000 + b"all is (well)")
        assert (await scrape(actual_site.url, pattern="is .well")).state == "normal"
        assert (await scrape(actual_site.url, pattern="all is")).state == "normal"
        missing = await scrape(actual_site.url, pattern="lost|gone")
        assert missing.event == "scraper:mismatch:pattern"


async def test_a_json_value_is_compared() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(b'{"db": {"ok": true}, "queue": [{"n": 3}]}')
        assert (
            await scrape(actual_site.url, json_path="$.db.ok", json_value="true")
        ).state == "normal"
        assert (await scrape(actual_site.url, json_path="$.queue[0].n")).state == "normal"
        wrong = await scrape(actual_site.url, json_path="$.queue[0].n", json_value="4")
        assert wrong.message == "$.queue[0].n is 3, expected 4"
        assert (
            await scrape(actual_site.url, json_path="$.nothing")
        ).message == "$.nothing does not exist in the response"


async def test_redirects_are_followed_unless_they_are_expected() -> None:
    async with site() as actual_site:
        actual_site.pages["/old"] = page(status="301 Moved", Location="/")
        actual_site.pages["/loop"] = page(status="302 Found", Location="/loop")
        assert (await scrape(f"{actual_site.url}/old", status_code="200")).data["status"] == 200
        assert (await scrape(f"{actual_site.url}/old", status_code="301")).data["status"] == 301
        assert "redirects" in (await scrape(f"{actual_site.url}/loop")).message


async def test_credentials_are_not_sent_to_another_origin() -> None:
    async with site() as actual_site, site() as other:
        actual_site.pages["/"] = page(status="302 Found", Location=f"{other.url}/")
        await scrape(actual_site.url, headers={"Authorization": "Basic canary"})
        assert "canary" in actual_site.asked[0] and "canary" not in other.asked[0]


async def test_a_large_answer_is_cut() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(b"x" * (3 << 20))
        assert (await scrape(actual_site.url)).data["bytes"] == 1 << 20
        bomb = zlib.compress(b"\0" * (64 << 20), wbits=31)
        actual_site.pages["/bomb"] = page(bomb, Content_Encoding="gzip")
        assert (await scrape(f"{actual_site.url}/bomb", gzip=True)).data["bytes"] == 1 << 20


async def test_chunks_are_put_together() -> None:
    async with site() as actual_site:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        actual_site.pages["/"] = head + b"3\r\nall\r\n4;x=y\r\n is \r\n4\r\nwell\r\n0\r\n\r\n"
        assert (await scrape(actual_site.url, pattern="all is well")).state == "normal"


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]
)
async def test_an_invalid_response_is_a_failure(answer: bytes) -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = answer
        outcome = await scrape(actual_site.url)
        assert (outcome.state, outcome.event) == ("failure", "scraper:error:request")


async def test_one_deadline_covers_everything() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = None
        began = time.monotonic()
        outcome = await scrape(actual_site.url, timeout=200)
        assert time.monotonic() - began < 15
        assert (outcome.event, outcome.message) == ("scraper:timeout", "No result within 0.2 s.")


async def test_a_slow_answer_can_count_as_a_miss() -> None:
    async with site() as actual_site:
        original = actual_site.talk

        async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.05)
            await original(reader, writer)

        server = await asyncio.start_server(slowly, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            assert (await scrape(url, max_ms=20)).event == "scraper:slow"
            assert (await scrape(url, max_ms=5_000)).state == "normal"


async def test_a_refused_connection_is_a_failure() -> None:
    outcome = await scrape("http://127.0.0.1:1/")
    assert (outcome.state, outcome.event) == ("failure", "scraper:error:request")


async def test_a_body_is_sent() -> None:
    async with site() as actual_site:
        await scrape(actual_site.url, method="POST", body='{"a":1}', json=True)
        assert "Content-Type: application/json" in actual_site.asked[0]
        assert "Content-Length: 7" in actual_site.asked[0]


@pytest.mark.alone
async def test_a_plain_check_costs_at_most_a_millisecond() -> None:
    program = _OTHER_SITE
    server = await asyncio.create_subprocess_exec(
        "python3", "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(await server.stdout.readline())}/"
        for _ in range(20):
            await scrape(url, status_code="200")
        began = time.process_time()
        for _ in range(200):
            assert (await scrape(url, status_code="200")).state == "normal"
        assert (time.process_time() - began) / 200 < 0.001
    finally:
        server.kill()
        await server.wait()


# Its time must not count as time of the check.
_OTHER_SITE = """
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
    peer.close()
"""


async def test_an_answer_that_repeats_a_credential_is_masked() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(b'{"you": "sent hunter22 to us"}')
        outcome = await scrape(
            actual_site.url,
            json_path="$.you",
            json_value="x",
            masks=["Bearer hunter22", "hunter22"],
        )
        assert outcome.message == "$.you is sent *** to us, expected x"


async def test_a_check_that_cannot_run_sends_nothing() -> None:
    async with site() as actual_site:
        outcome = await scrape(actual_site.url, problem="The secret X is not set.")
        assert (outcome.state, outcome.event) == ("failure", "scraper:config:secret")
        assert outcome.message == "The secret X is not set."
        assert actual_site.asked == []
