"""Ending processes of an installation with SIGKILL, at named points and at any moment."""

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from e2e import leftovers
from e2e.patience import until
from e2e.programs import Agent
from e2e.world import World

VERBS = ("create", "claim", "finish", "log")
SERVER_POINTS = tuple(f"{verb}.{when}_commit" for verb in VERBS for when in ("before", "after"))
AGENT_POINTS = ("agent.order_received", "agent.script_cached", "agent.reported", "agent.acked")
KEEPER_POINTS = ("keeper.accepted", "keeper.spawned", "keeper.script_ended", "keeper.ended")
RANDOM = ""
# A point that is not reached within this time counts as one at any moment.
POINT_S = 20.0
LIVES_S = (0.02, 2.0)


@dataclass
class Toll:
    """Who died where; and between which moments a keeper did, in milliseconds since 1970."""

    deaths: Counter[str] = field(default_factory=Counter)
    keepers: list[tuple[int, int]] = field(default_factory=list)


def plan(points: tuple[str, ...], rounds: int, dice: random.Random) -> list[str]:
    """Every point in turn, as often at any moment, in no order."""
    names = [*points, *[RANDOM] * len(points)]
    found = [names[number % len(names)] for number in range(rounds)]
    dice.shuffle(found)
    return found


def failpoint(point: str, dice: random.Random) -> dict[str, str]:
    return {"BELVEDERE_FAILPOINT": f"{point}:{dice.randint(1, 3)}"} if point else {}


def kill_all(
    world: World, steady: Agent, rough: Agent, rounds: int, seed: int
) -> tuple[Toll, Toll]:
    """So many deaths of the server, so many of agents and keepers, both at the same time."""
    with ThreadPoolExecutor(1) as beside:
        stop = threading.Event()
        agents = beside.submit(kill_agents, world, steady, rough, rounds, seed, stop)
        try:
            server = kill_server(world, rounds, seed + 1)
        except BaseException:
            stop.set()
            raise
        return server, agents.result()


def kill_server(world: World, rounds: int, seed: int) -> Toll:
    """Round by round: start it, let it die; at last it stays, for those who still kill agents."""
    dice, toll = random.Random(seed), Toll()
    for point in plan(SERVER_POINTS, rounds, dice):
        world.server.kill()
        lives_s = POINT_S if point else dice.uniform(*LIVES_S)
        is_there = world.start(**failpoint(point, dice))
        by_itself = not is_there or world.server.dies(lives_s)
        assert point or not by_itself, world.server.said()[-2_000:]
        toll.deaths[point if by_itself else "server"] += 1
        world.server.kill()
    assert world.start()
    return toll


def kill_agents(
    world: World, steady: Agent, rough: Agent, rounds: int, seed: int, stop: threading.Event
) -> Toll:
    """The agent of the steady host dies but never its keeper; on the rough one both do."""
    dice, toll = random.Random(seed), Toll()
    for point in plan((*AGENT_POINTS, *KEEPER_POINTS), rounds, dice):
        if stop.is_set():
            break
        if point in KEEPER_POINTS or (not point and dice.random() < 0.3):
            _kill_keeper(world, rough, point, dice, toll)
        else:
            _kill_agent(world, dice.choice((steady, rough)), point, dice, toll)
    return toll


def _kill_agent(world: World, agent: Agent, point: str, dice: random.Random, toll: Toll) -> None:
    agent.kill()
    agent.start(world.url, **failpoint(point, dice))
    by_itself = agent.dies(POINT_S if point else dice.uniform(*LIVES_S))
    assert point or not by_itself, agent.said()[-2_000:]
    toll.deaths[point if by_itself else "agent"] += 1
    agent.kill()
    agent.start(world.url)


def _kill_keeper(world: World, agent: Agent, point: str, dice: random.Random, toll: Toll) -> None:
    with _noted(toll):
        agent.kill()
        _kill_all(leftovers.keepers(agent.state))
        agent.start(world.url, **failpoint(point, dice))
        keeper = agent.keeper()
    with _noted(toll):
        lives_s = POINT_S if point else dice.uniform(*LIVES_S)
        by_itself = _dies(keeper, lives_s)
        assert point or not by_itself, f"a keeper died by itself: {agent.said()[-2_000:]}"
        toll.deaths[point if by_itself else "keeper"] += 1
        _kill_all([keeper])


@contextlib.contextmanager
def _noted(toll: Toll) -> Iterator[None]:
    began = time.time_ns() // 1_000_000
    yield
    toll.keepers.append((began, time.time_ns() // 1_000_000))


def _kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(leftovers.is_alive, pids)), 5)


def _dies(pid: int, within_s: float) -> bool:
    with contextlib.suppress(AssertionError):
        return until(lambda: not leftovers.is_alive(pid), within_s)
    return False
