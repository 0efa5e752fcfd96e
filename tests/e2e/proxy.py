"""A TCP connection between two programs that a test can cut, silence and restore."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urlsplit

Result = TypeVar("Result")

PIECE = 64 * 1024
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Listens on one address and passes bytes on to the address that `lead_to` sets.

    cut: connections break and none is accepted; silence: bytes are dropped, connections stay open;
    mend: everything works again, for connections that are opened from then on.
    """

    def __init__(self) -> None:
        self._target: tuple[str, int] | None = None
        self._is_cut = False
        self._is_silent = False
        self._open: set[asyncio.Task[None]] = set()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # Bytes that were passed on, to see that a connection is idle or busy.
        self.passed = 0

    def _call(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def lead_to(self, url: str) -> None:
        """New connections go there; open ones stay where they are."""
        address = urlsplit(url)
        assert address.hostname and address.port
        self._target = (address.hostname, address.port)

    def cut(self) -> None:
        self._is_cut = True
        self._call(self._hang_up())

    def drop(self) -> None:
        """Break open connections; new ones are accepted."""
        self._call(self._hang_up())

    def silence(self) -> None:
        self._is_silent = True

    def mend(self) -> None:
        self._call(self._hang_up())
        self._is_cut = self._is_silent = False

    def close(self) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._runner.close()

    async def _stop(self) -> None:
        # A connection that was accepted a moment ago may not be processed yet: it must not call the
        # other side now, and would be left open if the server closed before it was accepted.
        self._is_cut = True
        while len(asyncio.all_tasks()) > 1:
            await self._hang_up()
            await asyncio.sleep(0)
        # On the loop's own thread: a connection that ends meanwhile would close the server twice.
        self._server.close()
        await self._abort_transports()

    async def _abort_transports(self) -> None:
        """A task that is cancelled while it connects leaves its transport open."""
        transports: Any = getattr(self._loop, "_transports", {})
        for transport in list(transports.values()):
            transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    async def _hang_up(self) -> None:
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if not self._is_cut and self._target is not None:
                await self._pass_on(reader, writer)
        except (OSError, asyncio.CancelledError):
            # One side has closed the connection, or the test ends it: then the other side must see
            # it too.
            pass
        finally:
            self._open.discard(task)
            _abort(writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._target is not None
        connecting = asyncio.ensure_future(asyncio.open_connection(*self._target))
        try:
            far_reader, far_writer = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            # A connect that is cancelled leaves its transport open, so it is closed afterwards.
            connecting.add_done_callback(_abort_connected)
            raise
        ways = [
            asyncio.create_task(self._pump(reader, far_writer)),
            asyncio.create_task(self._pump(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            _abort(far_writer)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(PIECE):
            if self._is_silent:
                continue
            self.passed += len(data)
            writer.write(data)
            await writer.drain()


def _abort_connected(done: "asyncio.Future[Streams]") -> None:
    if not done.cancelled() and done.exception() is None:
        _abort(done.result()[1])


def _abort(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        writer.transport.abort()
