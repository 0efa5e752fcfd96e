"""Ending processes of an installation with SIGKILL, at named points and at any moment."""

import contextlib
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from belvedere.base.clock import Millis, wall
from e2e import process_leaks
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.world import World

VERBS = ("create", "claim", "finish", "log")
SERVER_POINTS = tuple(f"{verb}.{when}_commit" for verb in VERBS for when in ("before", "after"))
AGENT_POINTS = ("agent.order_received", "agent.script_cached", "agent.reported", "agent.acked")
KEEPER_POINTS = ("keeper.accepted", "keeper.spawned", "keeper.script_ended", "keeper.ended")
# No point: at any moment.
ANY = ""
# Every job passes every point, so that it is reached on a slow machine, too.
POINT_S = 60.0
# If an agent has not reached its point by then, it gets a server that is not killed.
PATIENCE_S = 15.0
LIVES_S = (0.02, 2.0)


def plan(points: tuple[str, ...], rounds: int, dice: random.Random) -> list[str]:
    """Every point in turn, and as often at any moment, in random order."""
    names = [*points, *[ANY] * len(points)]
    texts = [names[number % len(names)] for number in range(rounds)]
    dice.shuffle(texts)
    return texts


class Killer:
    """Kills the server, with the agent inside it, and at the same time other agents. On the steady
    host only the agent is killed, on the rough one its keeper too."""

    def __init__(self, world: World, steady: Agent, rough: Agent, seed: int) -> None:
        self._world = world
        self._steady = steady
        self._rough = rough
        self._seed = seed
        self._stop = threading.Event()
        # Set while an agent has only connected to servers that were killed too early.
        self._needs_server = threading.Event()
        # Which process was killed where; and when keepers of the rough host were killed.
        self.deaths: Counter[str] = Counter()
        self.keepers: list[Millis] = []

    def kill(self, rounds: int) -> None:
        """So many kills of the server, and so many of agents and keepers."""
        with ThreadPoolExecutor(1) as beside:
            agents = beside.submit(self._kill_agents, rounds, random.Random(self._seed))
            try:
                self._kill_server(rounds, random.Random(self._seed + 1), agents)
                agents.result()
            finally:
                self._stop.set()

    def _kill_server(self, rounds: int, dice: random.Random, agents: Future[None]) -> None:
        server = self._world.server
        for point in plan((*SERVER_POINTS, *AGENT_POINTS), rounds, dice):
            if agents.done():
                # A failure there need not wait for the other rounds.
                agents.result()
            self._serve_agents()
            server.kill()
            is_there = self._world.start(**_failpoint(point, dice))
            died = not is_there or server.dies(_life_s(point, dice))
            self._note(point, died, "server", server.read_log())
        server.kill()
        # At the end it keeps running, for the threads that still kill agents.
        assert self._world.start()

    def _serve_agents(self) -> None:
        if self._needs_server.is_set():
            self._world.server.kill()
            assert self._world.start()
            until(lambda: not self._needs_server.is_set(), POINT_S)

    def _kill_agents(self, rounds: int, dice: random.Random) -> None:
        for point in plan((*AGENT_POINTS, *KEEPER_POINTS), rounds, dice):
            if self._stop.is_set():
                return
            if point in KEEPER_POINTS or (point == ANY and dice.random() < 0.3):
                self._kill_keeper(point, dice)
            else:
                self._kill_agent(dice.choice((self._steady, self._rough)), point, dice)

    def _kill_agent(self, agent: Agent, point: str, dice: random.Random) -> None:
        agent.kill()
        agent.start(self._world.url, **_failpoint(point, dice))
        self._note(point, self._reaches(point, agent.dies, dice), "agent", agent.read_log())
        agent.kill()
        agent.start(self._world.url)

    def _kill_keeper(self, point: str, dice: random.Random) -> None:
        agent = self._rough
        agent.kill()
        # A keeper that remains would have the failpoint of the round before.
        while pids := process_leaks.programs(agent.state):
            for pid in pids:
                self._end(pid)
        agent.start(self._world.url, **_failpoint(point, dice))
        keeper = agent.keeper()
        died = self._reaches(point, partial(_dies, keeper), dice)
        self._note(point, died, "keeper", agent.read_log())
        self._end(keeper)

    def _reaches(self, point: str, dies: Callable[[float], bool], dice: random.Random) -> bool:
        """Whether it dies in time; otherwise with a server that is not killed, because servers that
        die every second may never send it the jobs that lead to its point."""
        if not point:
            return dies(dice.uniform(*LIVES_S))
        if dies(PATIENCE_S):
            return True
        self._needs_server.set()
        try:
            return dies(POINT_S)
        finally:
            self._needs_server.clear()

    def _end(self, keeper: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper, signal.SIGKILL)
        until(lambda: not process_leaks.is_alive(keeper), 5)
        self.keepers.append(wall())

    def _note(self, point: str, died: bool, who: str, text: str) -> None:
        assert died == (point != ANY), f"{who} {point}: died {died}\n{text[-2_000:]}"
        self.deaths[point or who] += 1


def _failpoint(point: str, dice: random.Random) -> dict[str, str]:
    return {"BELVEDERE_FAILPOINT": f"{point}:{dice.randint(1, 3)}"} if point else {}


def _life_s(point: str, dice: random.Random) -> float:
    return POINT_S if point else dice.uniform(*LIVES_S)


def _dies(pid: int, within_s: float) -> bool:
    with contextlib.suppress(AssertionError):
        return until(lambda: not process_leaks.is_alive(pid), within_s)
    return False
