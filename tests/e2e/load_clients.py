"""Clients that use the product while its processes are killed: two callers and a reader of the
event stream."""

from e2e import ledger
from e2e.caller import Caller, JobAttempt
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.watcher import Watcher
from e2e.world import World

RETRIES = 2


class LoadClients:
    """Work from the start on, until `finish`."""

    def __init__(self, world: World, agents: list[Agent], seed: int) -> None:
        self.ledger = world.folder / "ledger"
        self.ledger.touch()
        # First, so that it has an event to resume from before the first interruption.
        self.watcher = Watcher(world.client())
        self.watcher.start()
        # Most jobs run once; those of the last task may run again, also when one was lost.
        retries = [0 for _ in agents] + [RETRIES]
        tasks = {
            _task(world, agent, times): times
            for agent, times in zip([*agents, agents[-1]], retries, strict=True)
        }
        self._callers = [
            Caller(world.client(), str(self.ledger), tasks, seed + number) for number in (0, 1)
        ]
        for caller in self._callers:
            caller.start()

    def finish(self) -> list[JobAttempt]:
        """Wait for the responses to the last requests; all requests."""
        return [item for caller in self._callers for item in caller.finish()]

    @property
    def replays(self) -> int:
        return sum(caller.replays for caller in self._callers)

    def asks_for(self, more: int) -> None:
        """Wait until it has requested so many more jobs."""
        expected = self._count() + more
        until(lambda: self._count() >= expected, 60)

    def _count(self) -> int:
        return sum(len(caller.asked) for caller in self._callers)


def _task(world: World, agent: Agent, times: int) -> str:
    retry = {"times": times, "delay": 50, "on_lost": True} if times else None
    return world.task(ledger.SCRIPT, agent, *ledger.ARGUMENTS, retry=retry)
