"""uvicorn's server with a deadline for TLS handshakes, and the sweep of its connections."""

import asyncio
import socket
from functools import partial
from typing import Any

import uvicorn

from belvedere.server.transport.connections import Connections

# A TLS handshake takes this long at most; asyncio waits for a minute.
HANDSHAKE_S = 10.0
SWEEP_S = 1.0
BACKLOG = 2_048


class Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Like uvicorn's, for sockets that are listening already."""
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

    async def sweep(self, connections: Connections) -> None:
        """Close overdue connections until the server ends."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_S)
            connections.sweep(loop.time(), len(self.server_state.connections))
