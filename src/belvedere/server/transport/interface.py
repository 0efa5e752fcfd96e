"""What the server needs of a transport. There are two: our own (`listener.py`), and the library
path (`plain.py`) with uvicorn's classes.

Only this package uses uvicorn. The rest of the server sees a `Transport` and ASGI, with one
addition: our own WebSocket class offers itself to the application as `agent_socket` in the
extensions of the scope. Without it, the application uses ASGI alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn

from belvedere.base.errors import Refused
from belvedere.rest.request import Receive, Scope, Send
from belvedere.settings import Settings

# Bytes of one WebSocket message of an agent.
MAX_MESSAGE = 4 << 20
# Requests in progress get this long to end, unless `stop_within` sets another time.
SHUTDOWN_S = 2

AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
# Writes a complete response: status, headers (with the length, unless there is no body), body.
Respond = Callable[[Send, int, dict[bytes, bytes], bytes], Awaitable[None]]

# Runs at the end of a connection, with the exception of a frame handler if there is one.
OnEnd = Callable[[Exception | None], Awaitable[None]]

DISCONNECT = {"type": "websocket.disconnect", "code": 1006}


class Disconnected(OSError):
    """The peer of a WebSocket has disconnected."""


class AsgiServer(uvicorn.Server):
    def __init__(self, options: uvicorn.Config) -> None:
        super().__init__(options)
        self._stop = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """`main` handles signals: it ends the streams first."""
        yield

    def stop_within(self, seconds: float) -> None:
        """End after the requests in progress, or after this time without them."""
        self.config.timeout_graceful_shutdown = max(1, round(seconds))
        self._stop.set()

    async def main_loop(self) -> None:
        """uvicorn's loop wakes up ten times a second for a header and a limit that are not used."""
        await self._stop.wait()

    async def until_started(self, serving: "asyncio.Task[None]") -> None:
        while not self.started:
            if serving.done():
                await serving
                raise Refused("The server could not start; see its log.")
            await asyncio.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Transport:
    """How bytes become calls of the application, and its responses become bytes."""

    respond: Respond
    server: Callable[[AsgiApp], AsgiServer]


# `options` are further options of uvicorn, which has a type for each.
def config(app: AsgiApp, settings: Settings, **options: Any) -> uvicorn.Config:
    """uvicorn's options, which both have in common."""
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
        ws_max_size=MAX_MESSAGE,
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
        **options,
    )
