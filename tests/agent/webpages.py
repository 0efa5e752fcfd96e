"""A small web server that responds with whatever a test sets, byte by byte."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


def page(body: bytes = b"hello", status: str = "200 OK", **headers: str) -> bytes:
    lines = {
        "Content-Length": str(len(body)),
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{text}\r\n".encode() + body


class Site:
    def __init__(self) -> None:
        # By path; None: the connection hangs and sends nothing.
        self.pages: dict[str, bytes | None] = {"/": page()}
        self.asked: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        answer = self.pages[head.split(" ")[1].partition("?")[0]]
        try:
            if answer is None:
                await reader.read()
                return
            writer.write(answer)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    new_site = Site()
    server = await asyncio.start_server(new_site.talk, "127.0.0.1", 0)
    new_site.port = server.sockets[0].getsockname()[1]
    try:
        yield new_site
    finally:
        server.close()
        await server.wait_closed()
