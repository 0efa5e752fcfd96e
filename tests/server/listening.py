"""An application behind a real uvicorn on a free port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

PATIENCE_S = 20.0


@asynccontextmanager
async def run_uvicorn(app: Any, **options: Any) -> AsyncIterator[tuple[int, uvicorn.Server]]:
    config = uvicorn.Config(app, "127.0.0.1", 0, lifespan="off", log_config=None, **options)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    async with asyncio.timeout(PATIENCE_S):
        while not server.started:
            await asyncio.sleep(0)
    try:
        yield server.servers[0].sockets[0].getsockname()[1], server
    finally:
        server.should_exit = server.force_exit = True
        await task
