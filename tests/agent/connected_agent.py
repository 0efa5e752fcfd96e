"""A fake server and a real agent that is connected to it, for the length of a block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.agent_process import AgentProcess
from agent.fake_server import FakeServer


@asynccontextmanager
async def office(path: Path, **environment: str) -> AsyncIterator[tuple[FakeServer, AgentProcess]]:
    server = FakeServer()
    await server.open()
    agency = AgentProcess(path / "state", server.url)
    try:
        agency.start(**environment)
        await server.wait_connected()
        yield server, agency
        assert server.faults == []
    finally:
        agency.end()
        await server.close()
