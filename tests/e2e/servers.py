"""Several servers on one database, with an agent that is connected to one of them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e.programs import Agent, Server
from e2e.proxy import Proxy
from e2e.site import Site
from e2e.world import World


@dataclass(frozen=True)
class ServerPair:
    """We send requests to `world.server`; the agent is connected to `far`, through a proxy of its
    own. On SQLite, which only one process may use, they are the same."""

    world: World
    far: Server
    gate: Proxy
    agent: Agent

    @property
    def site(self) -> Site:
        return Site(self.world, self.agent)


@contextmanager
def run_pair(folder: Path, database: str, command: tuple[str, ...] = ()) -> Iterator[ServerPair]:
    env = {"BELVEDERE_SECRET_KEY": secrets.token_hex(32)}
    with World(folder, database, **env) as world:
        far = Server(folder / "far", database, **env) if database else world.server
        gate = Proxy()
        try:
            for server in {world.server, far}:
                server.command = command or server.command
                server.start()
            world.proxy.lead_to(world.server.url)
            gate.lead_to(far.url)
            yield ServerPair(world, far, gate, _agent(world, gate))
        finally:
            far.kill()
            gate.close()


def _agent(world: World, gate: Proxy) -> Agent:
    agent = world.agents["web"] = Agent(world.folder / "web", "web")
    agent.start(gate.url, BELVEDERE_ENROLMENT_TOKEN=world.enrolment())
    world.wait_connected(agent)
    return agent
