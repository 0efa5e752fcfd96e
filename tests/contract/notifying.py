"""Steps of tests about notifications: run the event consumer, send what is due."""

import asyncio

from belvedere.server.background import consumers, loops
from belvedere.server.runtime import ServerRuntime

TOLD = next(consumer for consumer in consumers.CONSUMERS if consumer.name == "people are told")


async def deliver_notices(runtime: ServerRuntime) -> None:
    """Process every event so far, and send the messages that are due."""
    while await runtime.db.write(consumers.run_batch, runtime, TOLD):
        await send_messages(runtime)


async def send_messages(runtime: ServerRuntime) -> None:
    await loops.send_messages(runtime)
    while runtime.egress.tasks:
        await asyncio.gather(*runtime.egress.tasks)
