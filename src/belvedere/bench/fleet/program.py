"""The process of the simulated agents: `python -m belvedere.bench.fleet.program`.

Its first line of input is the server's address and the agents' credentials; each further line says
whether the server is running. It writes a line whenever a count changes, at most ten per second.
"""

import asyncio
import sys
from urllib.parse import urlsplit

import msgspec
import uvloop

from belvedere.bench.fleet.simulated_agent import FleetCounts, SimulatedAgent
from belvedere.server.transport.connections import raise_nofile

REPORT_EVERY_S = 0.1
# Agents that start within one iteration of the event loop.
STARTS_AT_ONCE = 50


class FleetPlan(msgspec.Struct):
    server: str
    tokens: list[str]


async def run(plan: FleetPlan) -> None:
    counts = FleetCounts()
    asyncio.get_running_loop().add_reader(sys.stdin, _read_command, counts)
    address = urlsplit(plan.server)
    agents = []
    for number, token in enumerate(plan.tokens):
        agent = SimulatedAgent(number, token, (address.hostname or "", address.port or 0), counts)
        agents.append(asyncio.create_task(agent.run()))
        if number % STARTS_AT_ONCE == 0:
            await asyncio.sleep(0.01)
    before = b""
    while True:
        line = msgspec.json.encode(counts)
        if line != before:
            print(line.decode(), flush=True)
            before = line
        await asyncio.sleep(REPORT_EVERY_S)


def _read_command(counts: FleetCounts) -> None:
    line = sys.stdin.readline()
    if not line:
        raise SystemExit
    counts.is_server_running = line.strip() == "running"


if __name__ == "__main__":
    raise_nofile()
    uvloop.run(run(msgspec.json.decode(sys.stdin.readline(), type=FleetPlan)))
