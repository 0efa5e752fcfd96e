"""Programs of tests/db/test_partition.py, each in a network namespace of its own.

far.py relay <address> <socket>    passes TCP connections on to the socket of a PostgreSQL
far.py request <url>               sends a request for every line that it reads, METHOD PATH BODY,
                                   and prints its status
"""

import asyncio
import json
import sys

from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e.programs import CUSTOMER, TOKEN

PORT = 5432
# Far above every limit of the server: status 0 is no response within this time.
TIMEOUT_S = 60.0


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


def request(url: str) -> None:
    for line in sys.stdin:
        method, path, body = line.split(" ", 2)
        with Client(url, TOKEN, CUSTOMER, timeout_s=TIMEOUT_S) as client:
            try:
                status = client.request(method, path, json.loads(body)).status
            except Problem as problem:
                status = problem.status
        print(status, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "relay":
        asyncio.run(relay(*sys.argv[2:4]))
    else:
        request(sys.argv[2])
