"""Many connected agents: memory and CPU of the idle server, and the time after a restart until all
are connected again."""

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from belvedere.access.credentials import tokens
from belvedere.access.crypto.keyring import Keyring, load_secret
from belvedere.access.customers import service as customers
from belvedere.base.errors import Refused
from belvedere.bench.environment import fleet_process, private_server, processes
from belvedere.bench.environment.databases import open_migrated, temporary_database
from belvedere.bench.environment.fleet_process import Fleet
from belvedere.bench.results import AgentsResult
from belvedere.db import Tx
from belvedere.hosts import store as hosts
from belvedere.server.transport import connections

Progress = Callable[[str, int, int], None]
CONNECT_TIMEOUT_S = 300.0
# The server's work after so many agents connected, before it is idle.
SETTLE_S = 20.0
BATCH_SIZE = 1_000
# Open files besides the connections.
OTHER_FILES = 100


def check_limit(agents: int) -> None:
    """The server and the simulated agents need an open file for each connection."""
    connections.raise_nofile()
    if connections.capacity() < agents + OTHER_FILES:
        raise Refused(
            f"{agents} agents need {(agents + OTHER_FILES) * 8 // 7 + 1} open files; the limit of"
            f" this machine allows {connections.capacity() - OTHER_FILES} agents. Raise it"
            " (`ulimit -Hn`, LimitNOFILE), or measure fewer with --agents."
        )


def measure(
    server: str, folder: Path, agents: int, idle_s: float, report: Progress
) -> AgentsResult:
    check_limit(agents)
    own_folder = folder / f"agents-{agents}"
    own_folder.mkdir()
    with temporary_database(server, own_folder, "belvedere") as url:
        database = url if server else ""
        report("creating hosts", 0, agents)
        with private_server.running(own_folder, database, with_agent=False) as first:
            port = urlsplit(first.url).port or 0
        credentials = _create_hosts(url, own_folder, agents)
        with fleet_process.running(first.url, credentials) as fleet:
            return _measure(fleet, own_folder, database, port, agents, idle_s, report)


def _measure(
    fleet: Fleet,
    folder: Path,
    database: str,
    port: int,
    agents: int,
    idle_s: float,
    report: Progress,
) -> AgentsResult:
    report("connecting agents", 0, agents)
    with private_server.running(folder, database, port=port, with_agent=False):
        fleet.await_connected(agents, CONNECT_TIMEOUT_S)
        report("idle with agents", agents, agents)
        time.sleep(SETTLE_S)
        usage = processes.idle(folder, idle_s)
    if usage is None:
        raise Refused("Memory and CPU time of processes cannot be read on this system.")
    report("restart with agents", 0, agents)
    started_at = time.monotonic()
    with private_server.running(folder, database, port=port, with_agent=False):
        fleet.set_server_running(is_running=True)
        counts = fleet.await_connected(agents, CONNECT_TIMEOUT_S)
        reconnect_s = time.monotonic() - started_at
        fleet.set_server_running(is_running=False)
    return AgentsResult(agents, usage.rss_bytes, usage.cpu_percent, reconnect_s, counts.refused)


def _create_hosts(url: str, folder: Path, agents: int) -> list[str]:
    """Hosts with a credential each."""
    keys = Keyring(load_secret(folder))
    credentials: list[str] = []
    with open_migrated(url) as db:
        while len(credentials) < agents:
            count = min(BATCH_SIZE, agents - len(credentials))
            credentials += db.write_blocking(_create_batch, keys, len(credentials), count)
    return credentials


def _create_batch(tx: Tx, keys: Keyring, start: int, count: int) -> list[str]:
    customer = customers.by_name(tx, private_server.CUSTOMER)
    assert customer is not None
    texts = []
    for number in range(start, start + count):
        name = f"fleet-{number}"
        host = hosts.insert(tx, customer.id, name, name, "127.0.0.1")
        texts.append(tokens.create_agent_token(tx, keys, customer.id, host.id, name)[1])
    return texts
