"""Programs of tests/db/test_partition.py, each in a network namespace of its own.

far.py relay <address> <socket>    passes TCP connections on to the socket of a PostgreSQL
far.py ask <url>                   reads once for every line it is sent; says how that went
"""

import asyncio
import sys

from belvedere.base.errors import Unavailable
from belvedere.db.postgres.database import Postgres

PORT = 5432


async def relay(address: str, path: str) -> None:
    async def serve(near: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        far, asks = await asyncio.open_unix_connection(path)
        await asyncio.gather(_pass_on(near, asks), _pass_on(far, answers))

    server = await asyncio.start_server(serve, address, PORT)
    print("ready", flush=True)
    await server.serve_forever()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def ask(url: str) -> None:
    db = Postgres(url)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        try:
            await asyncio.gather(*(db.read(lambda tx: tx.value("select 1")) for _ in range(8)))
            print("ok", flush=True)
        except Unavailable:
            print("unavailable", flush=True)


if __name__ == "__main__":
    work = relay(*sys.argv[2:4]) if sys.argv[1] == "relay" else ask(sys.argv[2])
    asyncio.run(work)
