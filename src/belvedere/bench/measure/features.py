"""The cost of other features (webhooks, counters, long lists, checks), each compared with something
simple on the same server in the same minute."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from belvedere.base.errors import Refused
from belvedere.bench import results
from belvedere.bench.environment import agent_process, processes
from belvedere.bench.environment.installation import BenchTarget
from belvedere.bench.environment.private_server import PrivateServer
from belvedere.bench.environment.web_target import web_page
from belvedere.bench.measure import load
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.bench.results import FeatureCost, Idle
from belvedere.client.http_client import Client

Progress = Callable[[str, int, int], None]
WEBHOOK_CALLS, INCREMENTS, LIST_READS = 300, 1_000, 15
# The checks of one second, however many monitors there are.
CHECKS, WATCH_S = 50, 8.0
# In addition to the interval of the checks.
FIRST_CHECK_TIMEOUT_S = 30.0
SEPARATE_JOBS = 100


def measure(
    target: BenchTarget,
    connections: Sequence[HttpConnection],
    server: PrivateServer,
    records: int,
    report: Progress,
    idle: Idle | None = None,
) -> list[FeatureCost]:
    """`idle`: the server without checks, to know what it uses anyway."""
    report("webhook, counter", 0, 0)
    costs = [_webhook(target, connections[0]), _counter(target, connections)]
    costs += [_list(target.client, connections[0], noun, records, report) for noun in MAKE]
    with agent_process.running_agent(server, target.client) as host, web_page() as url:
        report("agent in its own process", 0, 0)
        costs.append(_separate_agent(target, host, connections[0]))
        for kind in CHECK:
            report(f"{CHECKS} checks: {kind}", 0, 0)
            fields = CHECK[kind](url)
            costs += _checks(host, server.folder, fields, f"{kind} check", CHECKS, idle)
        report(f"{records} monitors on one host", 0, 0)
        fields = CHECK["scraper"](url)
        costs += _checks(host, server.folder, fields, "check of many monitors", records, idle)
    return costs


def _separate_agent(
    target: BenchTarget, host: BenchTarget, connection: HttpConnection
) -> FeatureCost:
    """A job of an agent in its own process, against one of the agent in the server's, in turns."""
    client = target.client
    with target.task("own agent") as own_id, host.task("separate agent") as separate_id:
        requests = [
            encode_request(
                client, "POST", "/job", {"task": task_id, "task_arguments": []}, wait_result="true"
            )
            for task_id in (own_id, separate_id)
        ]
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(SEPARATE_JOBS):
            for column, request in zip(times, requests, strict=True):
                column.append(_seconds(connection, request))
    own_s, separate_s = (median(column) for column in times)
    unit = "times the agent in the server's process"
    return results.feature_cost("job of a separate agent", unit, separate_s, own_s)


def _webhook(target: BenchTarget, connection: HttpConnection) -> FeatureCost:
    """A trigger of one task against plain creation, in turns; the host runs nothing meanwhile."""
    client = target.client
    with target.task("webhook") as task_id, target.host_disabled():
        hook = client.post("/webhook", {"name": "belvedere bench", "tasks": [task_id]})
        plain = encode_request(client, "POST", "/job", {"task": task_id, "task_arguments": []})
        trigger = encode_request(client, "POST", f"/webhook/{hook['id']}/trigger", {})
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(WEBHOOK_CALLS):
            times[0].append(_seconds(connection, plain))
            times[1].append(_seconds(connection, trigger))
        client.delete(f"/webhook/{hook['id']}")
        target.cancel_all(task_id)
    return results.feature_cost(
        "webhook trigger", "job creations", median(times[1]), median(times[0])
    )


def _counter(target: BenchTarget, connections: Sequence[HttpConnection]) -> FeatureCost:
    """Increments of a counter from all callers, against reads of it."""
    client = target.client
    counter = client.post(
        "/indicator", {"title": "belvedere bench", "type": "counter", "state": "normal", "value": 0}
    )
    path = f"/indicator/{counter['id']}"
    reading = _send_all(connections, encode_request(client, "GET", path))
    counting = _send_all(connections, encode_request(client, "PATCH", f"{path}/increase"))
    value = client.get(path)["value"]
    client.delete(path)
    if value != INCREMENTS:
        raise Refused(f"The counter is {value} after {INCREMENTS} increments.")
    return results.feature_cost("counter rate", "of the rate of reads", 1 / counting, 1 / reading)


MAKE: dict[str, Callable[[int], dict[str, str]]] = {
    "monitor": lambda n: {"name": f"belvedere bench {n}", "type": "push"},
    "indicator": lambda n: {"title": f"belvedere bench {n}", "type": "text", "state": "normal"},
}


def _list(
    client: Client,
    connection: HttpConnection,
    kind: str,
    records: int,
    report: Progress,
) -> FeatureCost:
    """The list of all records, against a single record."""
    ids: list[str] = []
    for n in range(records):
        ids.append(client.post(f"/{kind}", MAKE[kind](n))["id"])
        if n % 100 == 0:
            report(f"creating {kind}s", n, records)
    single_request = encode_request(client, "GET", f"/{kind}/{ids[0]}")
    list_request = encode_request(client, "GET", f"/{kind}")
    times = [
        (_seconds(connection, list_request), _seconds(connection, single_request))
        for _ in range(LIST_READS)
    ]
    list_s, single_s = (median(column) for column in zip(*times, strict=True))
    for record_id in ids:
        client.delete(f"/{kind}/{record_id}")
    return results.feature_cost(f"{kind} list", f"times one of {records}", list_s, single_s)


CHECK: dict[str, Callable[[str], dict[str, str]]] = {
    "scraper": lambda url: {"type": "scraper", "url": url, "status_code": "200"},
    "dstat": lambda url: {"type": "dstat"},
}


def _checks(
    target: BenchTarget,
    folder: Path,
    check: dict[str, str],
    name: str,
    count: int,
    idle: Idle | None,
) -> list[FeatureCost]:
    """The CPU time per check in the agent and in the server, against a millisecond."""
    client = target.client
    interval_ms = 1_000 * max(1, count // CHECKS)
    fields = {**check, "host_id": target.host_id, "looptime": interval_ms}
    ids = [
        client.post("/monitor", {"name": f"belvedere bench {n}", **fields})["id"]
        for n in range(count)
    ]
    _until_checked(client, ids, interval_ms / 1_000 + FIRST_CHECK_TIMEOUT_S)
    usage = processes.idle(folder, WATCH_S)
    for monitor_id in ids:
        client.delete(f"/monitor/{monitor_id}")
    if usage is None:
        raise Refused("The CPU time of processes cannot be read on this system.")
    costs_s = check_costs(usage, idle, count / interval_ms * 1_000)
    return [
        results.feature_cost(f"{name}{suffix}", f"ms of the {role}", costs_s[role], 1e-3)
        for role, suffix in (("agent", ""), ("server", " in the server"))
    ]


def check_costs(usage: Idle, idle: Idle | None, per_second: float) -> dict[str, float]:
    """CPU seconds per check of agent and server, without those that the server uses anyway."""
    percentages = {"agent": 0.0, "server": 0.0}
    for process in usage.processes:
        # The agent's checks run in a process of their own.
        role = "agent" if process.name == "checks" else process.name
        percentages[role] = percentages.get(role, 0.0) + process.cpu_percent
    for process in idle.processes if idle is not None else ():
        if process.name == "server":
            percentages["server"] -= process.cpu_percent
    return {role: percent / 100 / per_second for role, percent in percentages.items()}


def _until_checked(client: Client, ids: list[str], timeout_s: float) -> None:
    give_up_at = time.monotonic() + timeout_s
    while time.monotonic() < give_up_at:
        states = {monitor["id"]: monitor["state"] for monitor in client.get("/monitor")}
        if all(states[monitor_id] not in ("unknown", "updates_stopped") for monitor_id in ids):
            return
        time.sleep(0.2)
    raise Refused("The checks did not start. Check that the agent is running.")


def _seconds(connection: HttpConnection, request: bytes) -> float:
    started_at = time.perf_counter()
    status, body = connection.exchange(request)
    elapsed_s = time.perf_counter() - started_at
    if status != 200:
        raise Refused(f"The server rejected a request (status {status}): {body[:300]!r}")
    return elapsed_s


def _send_all(connections: Sequence[HttpConnection], request: bytes) -> float:
    started_at = time.perf_counter()
    load.run_concurrently([(item, request) for item in connections], INCREMENTS)
    return time.perf_counter() - started_at
