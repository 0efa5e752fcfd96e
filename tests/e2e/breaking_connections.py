"""A PostgreSQL address whose connections break at the worst moment: the COMMIT is done, its
response is lost."""

import asyncio
import random
import shutil
import tempfile
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

SOCKET = ".s.PGSQL.5432"
PIECE = 64 * 1024
# How the server reports that a commit is done.
COMMITTED = b"COMMIT\0"


class CuttingPostgres:
    """Passes everything on to the server of `url`, but drops the response to some commits."""

    def __init__(self, url: str, seed: int) -> None:
        parts = urlsplit(url)
        self._far = f"{parse_qs(parts.query)['host'][0]}/{SOCKET}"
        self._folder = Path(tempfile.mkdtemp(prefix="belvedere-cut-", dir="/tmp"))
        self.url = urlunsplit(parts._replace(query=f"host={self._folder}"))
        self._dice = random.Random(seed)
        # How many of a hundred commits.
        self.percent = 0
        self.cuts = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listen = asyncio.start_unix_server(self._accept, str(self._folder / SOCKET))
        self._server = asyncio.run_coroutine_threadsafe(listen, self._loop).result(10)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()
        shutil.rmtree(self._folder)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._far)
        back = asyncio.create_task(self._pass_back(far_reader, writer))
        try:
            while data := await reader.read(PIECE):
                far_writer.write(data)
                await far_writer.drain()
        except OSError:
            # The other side has closed the connection.
            pass
        finally:
            back.cancel()
            far_writer.close()
            writer.close()

    async def _pass_back(self, far: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await far.read(PIECE):
            if COMMITTED in data and self._dice.randrange(100) < self.percent:
                self.cuts += 1
                break
            writer.write(data)
            await writer.drain()
        writer.transport.abort()
