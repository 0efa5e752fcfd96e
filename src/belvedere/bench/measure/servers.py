"""CPU time of a job with several servers on one PostgreSQL, compared with one server.

Agents, callers and jobs are the same in both cases. CPU time is compared, not time: on one machine
the servers share its cores.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

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
WARM_UP = 300
# Callers of each host.
CALLERS = 8


def measure(
    database: str, folder: Path, servers: int, jobs: int, report: Progress
) -> ServersResult:
    costs = [_cpu_per_job(database, folder, count, servers, jobs, report) for count in (1, servers)]
    single_s, several_s = costs
    return ServersResult(servers, jobs, single_s / MICRO, several_s / MICRO, several_s / single_s)


def _cpu_per_job(
    database: str, folder: Path, count: int, hosts: int, jobs: int, report: Progress
) -> float:
    """Seconds of all servers per job. The hosts are divided among the servers."""
    step = f"{count} servers"
    report(step, 0, 0)
    own_folder = folder / f"servers-{count}"
    own_folder.mkdir()
    with ExitStack() as stack:
        url = stack.enter_context(temporary_database(database, own_folder, f"servers{count}"))
        servers = _start(stack, own_folder, url, count)
        targets = [
            stack.enter_context(_host(servers[number % count], number)) for number in range(hosts)
        ]
        tasks = [stack.enter_context(target.task("several servers")) for target in targets]
        callers = _callers(stack, targets, tasks)
        _run(targets, tasks, callers, WARM_UP, report, step)
        before_s = _cpu_s(servers)
        _run(targets, tasks, callers, jobs, report, step)
        return (_cpu_s(servers) - before_s) / jobs


def _start(stack: ExitStack, folder: Path, url: str, count: int) -> list[PrivateServer]:
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


def _run(
    targets: Sequence[BenchTarget],
    tasks: Sequence[str],
    callers: Sequence[tuple[HttpConnection, bytes]],
    jobs: int,
    report: Progress,
    step: str,
) -> None:
    before = sum(target.count(task) for target, task in zip(targets, tasks, strict=True))
    load.run_concurrently(callers, jobs)
    for target, task_id in zip(targets, tasks, strict=True):
        count = target.count(task_id)
        load.wait_until_finished(target, task_id, count, lambda done: report(step, done, jobs))
    assert sum(map(BenchTarget.count, targets, tasks)) == before + jobs


def _cpu_s(servers: Sequence[PrivateServer]) -> float:
    return sum(
        processes.cpu_s(process.pid)
        for server in servers
        for process in processes.of_folder(server.folder)
        if process.name == "server"
    )
