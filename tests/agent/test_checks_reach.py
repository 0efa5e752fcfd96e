"""Where checks may connect to: anywhere, or only to public addresses."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from belvedere.agent.checks.kinds import ping, scraper, tcp, tls
from belvedere.monitors.config.kinds import ScraperConfig

OUTER_ONLY = {"outer_only": True}


@asynccontextmanager
async def open_trap() -> AsyncIterator[tuple[int, list[str]]]:
    """A port of this machine, and the connections that it got."""
    came: list[str] = []

    async def record_caller(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append("somebody")
        writer.close()

    server = await asyncio.start_server(record_caller, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], came


async def test_an_internal_address_is_refused_if_forbidden() -> None:
    async with open_trap() as (port, came):
        config: dict[str, Any] = {"target": "127.0.0.1", "port": port}
        assert (await tcp.check(config, {})).state == "normal"
        outcome = await tcp.check(config | OUTER_ONLY, {})
        assert (outcome.state, outcome.event) == ("failure", "tcp:error")
        assert "forbids" in outcome.message
        assert len(came) <= 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"]
)
async def test_no_spelling_leads_inside(host: str) -> None:
    async with open_trap() as (port, came):
        bare = host.strip("[]")
        for check, config in (
            (tcp.check, {"target": bare, "port": port}),
            (tls.check, {"target": bare, "port": port, "days": 1}),
            (ping.check, {"target": bare}),
            (scraper.check, scraper_config(f"http://{host}:{port}/")),
        ):
            assert (await check(config | OUTER_ONLY, {})).state == "failure"
        assert came == []


async def test_a_name_that_leads_inside_and_outside_is_called_outside_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []

    async def look_up(*_: Any, **__: Any) -> list[Any]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))
            for address in ("127.0.0.1", "93.184.216.34")
        ]

    async def call(host: str, port: int, **_: Any) -> Any:
        called.append(host)
        raise OSError("nobody")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    monkeypatch.setattr(asyncio, "open_connection", call)
    await tcp.check({"target": "both.test", "port": 80} | OUTER_ONLY, {})
    assert called == ["93.184.216.34"]


def scraper_config(url: str) -> dict[str, Any]:
    scraper_config = ScraperConfig(url=url)
    return {name: getattr(scraper_config, name) for name in scraper_config.__struct_fields__}
