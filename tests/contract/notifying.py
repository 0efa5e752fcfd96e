"""Steps of tests about telling people: run the reaction, carry what is due."""

import asyncio

from belvedere.server.background import consumers, loops
from belvedere.server.runtime import House

TOLD = next(one for one in consumers.REACTIONS if one.name == "people are told")


async def told(house: House) -> None:
    """Everything that happened so far is told, and what is due is carried."""
    while await house.db.write(consumers.react, house, TOLD):
        await posted(house)


async def posted(house: House) -> None:
    await loops.send_messages(house)
    while house.couriers.tasks:
        await asyncio.gather(*house.couriers.tasks)
