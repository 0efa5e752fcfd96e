"""Servers on one PostgreSQL behind HAProxy are restarted one after the other. No request fails, no
job is lost or runs twice, and no stream misses anything."""

import http.client
import itertools
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from belvedere.client.errors import Problem
from e2e import ledger
from e2e.haproxy import HAProxy
from e2e.programs import CUSTOMER, TOKEN, Server
from e2e.site import Site
from e2e.wait_until import until
from e2e.watcher import Watcher
from e2e.world import World
from server.redis_server import free_port

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.parametrize("engine", ["postgres"], indirect=True),
]
# A script that prints until it is told to end.
COUNTING = '#!/bin/sh\nn=0\nuntil test -e "$1"; do n=$((n+1)); echo $n; sleep 0.1; done\n'
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


class Requester(threading.Thread):
    """Sends requests on connections that stay open, and repeats none of them."""

    def __init__(self, port: int, method: str, path: str, body: object, pause_s: float) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._request = (method, path, json.dumps(body) if body else None, HEADERS)
        self._pause_s = pause_s
        self._is_over = threading.Event()
        self.jobs: list[str] = []
        self.count = 0
        self.failures: list[str] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        while not self._is_over.wait(self._pause_s):
            self.count += 1
            try:
                self._send(connection)
            except (OSError, http.client.HTTPException) as fault:
                self.failures.append(repr(fault))
                connection.close()
            if self.count % 20 == 0:
                connection.close()
        connection.close()

    def _send(self, connection: http.client.HTTPConnection) -> None:
        connection.request(*self._request)
        response = connection.getresponse()
        text = response.read()
        if response.status >= 300:
            self.failures.append(f"{response.status} {text[:300]!r}")
        elif self._request[0] == "POST":
            self.jobs.append(json.loads(text)["id"])

    def leave(self) -> None:
        self._is_over.set()
        self.join(60)
        assert not self.is_alive()


class Cluster:
    """Servers behind HAProxy, and an agent that connects through it."""

    def __init__(self, world: World, servers: list[Server], ports: list[int]) -> None:
        self.world = world
        self.haproxy = HAProxy(world.folder, ports)
        world.proxy.lead_to(self.haproxy.url)
        self._servers = servers
        self._ports = ports

    def is_up(self) -> bool:
        try:
            return bool(self.world.api.request("GET", "/-/health").status == 200)
        except Problem:
            return False

    def restart(self, number: int) -> None:
        server = self._servers[number]
        name = f"server{number + 1}"
        assert server.stop() == 0, server.read_log()
        self.haproxy.wait_state(name, "DOWN")
        assert server.start("--port", str(self._ports[number])), server.read_log()
        self.haproxy.wait_state(name, "UP")


@contextmanager
def cluster(folder: Path, database: str, size: int) -> Iterator[Cluster]:
    env = {
        "BELVEDERE_SECRET_KEY": secrets.token_hex(32),
        "BELVEDERE_PROXIES": "127.0.0.1",
        # More time than usual, for a machine that is busy.
        "BELVEDERE_DRAIN": "24",
    }
    with World(folder, database, **env) as world:
        others = [Server(folder / f"server{n}", database, **env) for n in range(2, size + 1)]
        servers, ports = [world.server, *others], [free_port() for _ in range(size)]
        new_cluster = None
        try:
            for server, port in zip(servers, ports, strict=True):
                assert server.start("--port", str(port)), server.read_log()
            new_cluster = Cluster(world, servers, ports)
            until(new_cluster.is_up, 20, new_cluster.haproxy.read_log)
            yield new_cluster
            for server in others:
                server.stop()
        finally:
            for server in others:
                server.kill()
            if new_cluster is not None:
                new_cluster.haproxy.close()


def roll(site: Site, haproxy: HAProxy, restart: Callable[[], None]) -> None:
    """Restart while requests are sent, jobs run and streams are read; then compare everything."""
    world = site.world
    path = world.folder / "ledger"
    path.touch()
    task = world.task(ledger.SCRIPT, site.agent, *ledger.ARGUMENTS)
    word = world.folder / "enough"
    counting = site.start(COUNTING, str(word))
    body = {"task": task, "task_arguments": [str(path), "0", "0", "1"]}
    slow = {"task": task, "task_arguments": [str(path), "0", "0.3", "1"]}
    query, port = f"customer={CUSTOMER}", haproxy.port
    requesters = [
        Requester(port, "POST", f"/job?{query}", body, 0.2),
        # Almost always in progress, on each server.
        *(
            Requester(port, "POST", f"/job?{query}&wait_result=true&wait_timeout=60", slow, 0.01)
            for _ in range(4)
        ),
        Requester(port, "GET", f"/host?{query}", None, 0.05),
        Requester(port, "GET", "/-/health", None, 0.05),
    ]
    watcher = Watcher(world.client())
    events: list[tuple[str, object]] = []
    reader = threading.Thread(target=lambda: events.extend(site.listen(counting)), daemon=True)
    for thread in (watcher, reader):
        thread.start()
    # From now on it must receive the events of every job.
    until(lambda: site.run("#!/bin/sh\n") and watcher.jobs)
    for requester in requesters:
        requester.start()
    restart()
    for requester in requesters:
        requester.leave()
    word.touch()
    failures = [failure for requester in requesters for failure in requester.failures]
    assert not failures, (failures, haproxy.unusual_lines())
    check_jobs(site, watcher, path, [job for requester in requesters for job in requester.jobs])
    assert world.wait_ended(counting)["state"] == "normal"
    reader.join(30)
    text = "".join(str(data) for kind, data in events if kind == "output")
    assert text.encode() == world.log(counting)
    assert watcher.resyncs == 0 and watcher.fault is None


def check_jobs(site: Site, watcher: Watcher, path: Path, job_ids: list[str]) -> None:
    assert len(job_ids) > 10
    for job_id in job_ids:
        job = site.world.wait_ended(job_id)
        assert (job["lifecycle"], job["state"]) == ("finished", "normal"), job
        until(lambda job=job: watcher.has_heard(job), 30, lambda job=job: job)  # type: ignore[misc]
        watcher.check(job)
    watcher.leave()
    runs = ledger.read(path)
    assert {job_id: len(runs[job_id]) for job_id in job_ids} == dict.fromkeys(job_ids, 1)
    assert len(runs) == len(set(job_ids))


@pytest.mark.limit(120)
def test_a_rolling_restart_fails_no_request(database: str, tmp_path: Path) -> None:
    with cluster(tmp_path, database, 2) as servers:
        site = Site(servers.world, servers.world.agent("web"))

        def restart() -> None:
            for number in range(2):
                servers.restart(number)

        roll(site, servers.haproxy, restart)


@pytest.mark.prove
@pytest.mark.limit(600)
def test_three_servers_are_restarted_five_times(database: str, tmp_path: Path) -> None:
    with cluster(tmp_path, database, 3) as servers:
        site = Site(servers.world, servers.world.agent("web"))

        def restart() -> None:
            for number in itertools.chain.from_iterable([range(3)] * 5):
                servers.restart(number)

        roll(site, servers.haproxy, restart)
