"""A hostile agent on a real socket: it sends and does not read."""

import asyncio
import base64
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import uvicorn

from belvedere.base import websocket_frames
from belvedere.server.transport.agent_websocket import AgentWebSocket
from contract.fakeagent import hello
from contract.world import World
from server.listening import PATIENCE_S, run_uvicorn

LONGEST_FRAME = 4 << 20
# Small, so that what the server sends soon stays in the server.
RECEIVE_BUFFER = 4096


class RawAgent:
    """One TCP connection. Only what a test requests is read."""

    def __init__(self, port: int, token: str | None) -> None:
        self.port = port
        self._token = token
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._socket.setblocking(False)
        self._loop = asyncio.get_running_loop()

    async def connect(self, path: str = "/-/agent") -> bytes:
        """Request the upgrade; the head of the response."""
        await self._loop.sock_connect(self._socket, ("127.0.0.1", self.port))
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n"
        )
        if self._token is not None:
            head += f"authorization: Bearer {self._token}\r\n"
        await self.send(head.encode() + b"\r\n")
        answer = b""
        while b"\r\n\r\n" not in answer:
            data = await self._loop.sock_recv(self._socket, 1)
            if not data:
                break
            answer += data
        return answer

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._socket, data)

    async def frame(self, opcode: int, data: bytes) -> None:
        await self.send(websocket_frames.pack(opcode, data, masked=True))

    async def send_messages(self, *messages: Any) -> None:
        await self.frame(
            websocket_frames.TEXT, json.dumps([asdict(message) for message in messages]).encode()
        )

    async def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        actual_data = b""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    data = await self._loop.sock_recv(self._socket, 65_536)
                except ConnectionError:
                    return actual_data
                if not data:
                    return actual_data
                actual_data += data

    def close(self) -> None:
        self._socket.close()


class RawAgents:
    """A listening server, and the raw agents that call it."""

    def __init__(self, port: int, server: uvicorn.Server, world: World) -> None:
        self.port, self.server, self.world = port, server, world
        self.agents: list[RawAgent] = []

    def agent(self, token: str | None = None) -> RawAgent:
        raw_agent = RawAgent(self.port, token)
        self.agents.append(raw_agent)
        return raw_agent

    async def session(
        self, hostname: str = "web-1", **more: Any
    ) -> tuple[RawAgent, AgentWebSocket]:
        """An agent that has sent its hello, and the server's end of its connection."""
        before = set(self.wires())
        agent = self.agent(self.world.things.hosts[hostname].token)
        assert b" 101 " in await agent.connect()
        await agent.send_messages(hello(hostname, **more))
        host_id = self.world.things.hosts[hostname].host_id
        await until(lambda: self.world.runtime.agents.for_host(host_id) is not None)
        [wire] = set(self.wires()) - before
        return agent, wire

    def wires(self) -> list[AgentWebSocket]:
        return [
            connection
            for connection in self.server.server_state.connections
            if isinstance(connection, AgentWebSocket)
        ]


@asynccontextmanager
async def stage(world: World) -> AsyncIterator[RawAgents]:
    options: dict[str, Any] = {
        "ws": AgentWebSocket,
        "ws_max_size": LONGEST_FRAME,
        "http": "httptools",
    }
    async with run_uvicorn(world.app, **options) as (port, server):
        raw_agents = RawAgents(port, server, world)
        try:
            async with asyncio.timeout(PATIENCE_S * 2):
                yield raw_agents
        finally:
            for agent in raw_agents.agents:
                agent.close()


async def until(is_there: Any) -> None:
    """Let the server work until this is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_there():
            await asyncio.sleep(0.001)
