"""Our own transport: uvicorn's server with our protocol classes, a deadline for TLS handshakes, and
the sweep of its connections."""

import asyncio
import socket
from functools import partial
from typing import Any

import uvicorn

from belvedere.server.transport import direct_response
from belvedere.server.transport.agent_websocket import AgentWebSocket
from belvedere.server.transport.connections import Connections
from belvedere.server.transport.http_protocol import HttpProtocol
from belvedere.server.transport.interface import AsgiApp, AsgiServer, Transport, config
from belvedere.settings import Settings

# A TLS handshake takes this long at most; asyncio waits for a minute.
HANDSHAKE_S = 10.0
SWEEP_S = 1.0
# The kernel lowers it to its own limit.
BACKLOG = 65_535


def transport(settings: Settings, connections: Connections) -> Transport:
    return Transport(direct_response.respond, partial(_server, settings, connections))


def _server(settings: Settings, connections: Connections, app: AsgiApp) -> "Server":
    protocol = partial(HttpProtocol, connections)
    return Server(config(app, settings, http=protocol, ws=AgentWebSocket), connections)


class Server(AsgiServer):
    def __init__(self, options: uvicorn.Config, connections: Connections) -> None:
        super().__init__(options)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Like uvicorn's, for sockets that are listening already."""
        # Its declared type is asyncio.Protocol, which takes no arguments.
        protocol: Any = self.config.http_protocol_class
        make = partial(
            protocol,
            config=self.config,
            server_state=self.server_state,
            app_state={},
        )
        options: dict[str, Any] = {"ssl": self.config.ssl, "backlog": BACKLOG}
        if self.config.ssl is not None:
            options["ssl_handshake_timeout"] = HANDSHAKE_S
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(make, sock=listening, **options) for listening in sockets or ()
        ]
        self.started = True

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Like uvicorn's, and close overdue connections meanwhile."""
        sweep = asyncio.create_task(self._sweep())
        try:
            await super().serve(sockets)
        finally:
            sweep.cancel()

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_S)
            self._connections.sweep(loop.time(), len(self.server_state.connections))
