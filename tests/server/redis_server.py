"""A real Redis server for a test, and a subscriber."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

PASSWORD = "pass word:/@"
MISSING = "The tests of the Redis publisher need redis-server: apt install redis-server"
START_S = 10.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def serve(folder: Path, port: int, *options: str) -> AsyncIterator[None]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail(MISSING)
    listens = () if "--tls-port" in options else ("--port", str(port))
    process = await asyncio.create_subprocess_exec(
        *(program, "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""),
        *(*listens, "--requirepass", PASSWORD, *options),
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        await _until_listening(port)
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_listening(port: int) -> None:
    async with asyncio.timeout(START_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                return


class Subscriber:
    """Signed in and subscribed to every channel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "Subscriber":
        subscriber = cls(*await asyncio.open_connection("127.0.0.1", port))
        subscriber._writer.write(f'AUTH "{PASSWORD}"\r\nPSUBSCRIBE *\r\n'.encode())
        assert await subscriber._line() == "+OK"
        assert (await subscriber._array())[:2] == ["psubscribe", "*"]
        return subscriber

    async def message(self) -> tuple[str, str]:
        """Channel and text of the next message."""
        async with asyncio.timeout(START_S):
            _, _, channel, text = await self._array()
        return channel, text

    async def _array(self) -> list[str]:
        return [await self._item() for _ in range(int((await self._line())[1:]))]

    async def _item(self) -> str:
        head = await self._line()
        if head[0] != "$":
            return head
        return (await self._reader.readexactly(int(head[1:]) + 2))[:-2].decode()

    async def _line(self) -> str:
        return (await self._reader.readline()).decode().strip()

    def close(self) -> None:
        self._writer.close()
