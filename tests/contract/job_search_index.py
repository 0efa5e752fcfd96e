"""The search index in tests: runs at once what the server does in the background."""

from belvedere.jobs.search import progress
from belvedere.server.background import consumers, search_index
from contract.world import World

[CONSUMER] = [item for item in consumers.CONSUMERS if item.name == progress.CONSUMER]


async def add_all(world: World) -> None:
    await consumers.catch_up(CONSUMER, world.runtime)
    await search_index.add_older_jobs(world.runtime)
