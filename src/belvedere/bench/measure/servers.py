"""CPU time of a job with several servers on one PostgreSQL, compared with one server.

Agents, callers and jobs are the same in both cases. CPU time is compared, not time: on one machine
the servers share its cores. Both cases run at the same time and take turns with blocks of
jobs, so that other load on the machine affects both.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.bench.environment import agent_process, private_server, processes
from belvedere.bench.environment.databases import temporary_database
from belvedere.bench.environment.installation import BenchTarget
from belvedere.bench.environment.private_server import PrivateServer
from belvedere.bench.measure import load
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.bench.results import MICRO, ServersResult
from belvedere.client.http_client import Client

Progress = Callable[[str, int, int], None]
WARM_UP, ROUNDS = 300, 6
# After a block the search index and others process its events.
SETTLE_S = 3.0
# In its first seconds a server sends the others all signals: it does not know their requests yet.
START_S = 6.0
# Callers of each host.
CALLERS = 8


@dataclass(slots=True)
class ServerGroup:
    """Servers with their hosts, and CPU seconds of all servers per job, of each block."""

    servers: list[PrivateServer]
    targets: list[BenchTarget]
    tasks: list[str]
    callers: list[tuple[HttpConnection, bytes]]
    # CPU seconds per second without jobs.
    idle_rate: float = 0.0
    costs_s: list[float] = field(default_factory=list)

    def run(self, jobs: int) -> None:
        load.run_concurrently(self.callers, jobs)
        for target, task_id in zip(self.targets, self.tasks, strict=True):
            count = target.count(task_id)
            load.wait_until_finished(target, task_id, count, lambda done: None)

    def measure_idle(self) -> None:
        before_s = self._cpu_s()
        time.sleep(SETTLE_S)
        self.idle_rate = (self._cpu_s() - before_s) / SETTLE_S

    def measure(self, jobs: int) -> None:
        """With the work that is done after the jobs, without that of idle servers."""
        before = self._count()
        began_at, before_s = time.monotonic(), self._cpu_s()
        self.run(jobs)
        time.sleep(SETTLE_S)
        idle_s = (time.monotonic() - began_at) * self.idle_rate
        self.costs_s.append((self._cpu_s() - before_s - idle_s) / jobs)
        assert self._count() == before + jobs

    def _count(self) -> int:
        return sum(map(BenchTarget.count, self.targets, self.tasks))

    def _cpu_s(self) -> float:
        return sum(
            processes.cpu_s(process.pid)
            for server in self.servers
            for process in processes.of_folder(server.folder)
            if process.name == "server"
        )


def measure(
    database: str, folder: Path, servers: int, jobs: int, report: Progress
) -> ServersResult:
    with ExitStack() as stack:
        groups = []
        for count in (1, servers):
            report(f"starting servers: {count}", 0, 0)
            groups.append(_start(stack, database, folder, count, servers))
            groups[-1].run(WARM_UP)
        report(f"waiting until the {servers} servers know each other's requests", 0, 0)
        time.sleep(START_S)
        for group in groups:
            group.measure_idle()
        block = max(servers * CALLERS, jobs // ROUNDS)
        for number in range(ROUNDS):
            report(f"1 and {servers} servers in turns", number, ROUNDS)
            for group in groups if number % 2 else reversed(groups):
                group.measure(block)
    single_s, several_s = (median(group.costs_s) for group in groups)
    ratio = several_s / single_s
    return ServersResult(servers, block * ROUNDS, single_s / MICRO, several_s / MICRO, ratio)


def _start(stack: ExitStack, database: str, folder: Path, count: int, hosts: int) -> ServerGroup:
    """The hosts are divided among the servers."""
    own_folder = folder / f"servers-{count}"
    own_folder.mkdir()
    url = stack.enter_context(temporary_database(database, own_folder, f"servers{count}"))
    servers = _start_servers(stack, own_folder, url, count)
    targets = [
        stack.enter_context(_host(servers[number % count], number)) for number in range(hosts)
    ]
    tasks = [stack.enter_context(target.task("several servers")) for target in targets]
    return ServerGroup(servers, targets, tasks, _callers(stack, targets, tasks))


def _start_servers(stack: ExitStack, folder: Path, url: str, count: int) -> list[PrivateServer]:
    """Servers with the same key; the accounts are those that the first one created."""
    servers: list[PrivateServer] = []
    for number in range(count):
        home = folder / f"server-{number}"
        home.mkdir()
        if servers:
            shutil.copy2(servers[0].folder / SECRET_FILE, home / SECRET_FILE)
        server = stack.enter_context(private_server.running(home, url, with_agent=False))
        if servers:
            server = replace(server, token=servers[0].token, password=servers[0].password)
        servers.append(server)
    return servers


@contextmanager
def _host(server: PrivateServer, number: int) -> Iterator[BenchTarget]:
    with (
        Client(server.url, server.token, private_server.CUSTOMER) as client,
        agent_process.running_agent(server, client, f"host-{number}") as target,
    ):
        yield target


def _callers(
    stack: ExitStack, targets: Sequence[BenchTarget], tasks: Sequence[str]
) -> list[tuple[HttpConnection, bytes]]:
    callers = []
    for target, task_id in zip(targets, tasks, strict=True):
        body = {"task": task_id, "task_arguments": []}
        request = encode_request(target.client, "POST", "/job", body)
        for _ in range(CALLERS):
            connection = HttpConnection(target.client.server)
            stack.callback(connection.close)
            callers.append((connection, request))
    return callers
