"""What the other rooms cost, each against something plain of the same server in the same minute:
webhooks, counters, long lists, checks."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from belvedere.base.errors import Refused
from belvedere.bench import results
from belvedere.bench.environment import agent_process, processes
from belvedere.bench.environment.installation import Site
from belvedere.bench.environment.private_server import Private
from belvedere.bench.measure import load
from belvedere.bench.measure.http_connection import Line, request
from belvedere.bench.results import Room
from belvedere.client.http_client import Client

Tell = Callable[[str, int, int], None]
CALLS, INCREMENTS, LOOKS = 300, 1_000, 15
CHECKS, WATCH_S, BEGIN_S = 50, 8.0, 30.0


def measure(
    target: Site, lines: Sequence[Line], server: Private, records: int, tell: Tell
) -> list[Room]:
    tell("webhook, counter", 0, 0)
    found = [_webhook(target, lines[0]), _counter(target, lines)]
    found += [_list(target.client, lines[0], noun, records, tell) for noun in MAKE]
    with agent_process.agent(server, target.client) as host:
        for kind in CHECK:
            tell(f"{CHECKS} checks: {kind}", 0, 0)
            found.append(_checks(host, server.folder, kind))
    return found


def _webhook(target: Site, line: Line) -> Room:
    """A trigger of one task against plain creation, in turns; nothing is run meanwhile."""
    client = target.client
    with target.task("webhook") as task_id, target.resting():
        hook = client.post("/webhook", {"name": "belvedere bench", "tasks": [task_id]})
        plain = request(client, "POST", "/job", {"task": task_id, "task_arguments": []})
        trigger = request(client, "POST", f"/webhook/{hook['id']}/trigger", {})
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(CALLS):
            times[0].append(_seconds(line, plain))
            times[1].append(_seconds(line, trigger))
        client.delete(f"/webhook/{hook['id']}")
        target.cancel_all(task_id)
    return results.room("webhook trigger", "job creations", median(times[1]), median(times[0]))


def _counter(target: Site, lines: Sequence[Line]) -> Room:
    """Increments of one counter from all callers, against reads of it."""
    client = target.client
    made = client.post(
        "/indicator", {"title": "belvedere bench", "type": "counter", "state": "normal", "value": 0}
    )
    path = f"/indicator/{made['id']}"
    reading = _poured(lines, request(client, "GET", path))
    counting = _poured(lines, request(client, "PATCH", f"{path}/increase"))
    value = client.get(path)["value"]
    client.delete(path)
    if value != INCREMENTS:
        raise Refused(f"{INCREMENTS} increments made the counter {value}.")
    return results.room("counter rate", "of the rate of reads", 1 / counting, 1 / reading)


MAKE: dict[str, Callable[[int], dict[str, str]]] = {
    "monitor": lambda n: {"name": f"belvedere bench {n}", "type": "push"},
    "indicator": lambda n: {"title": f"belvedere bench {n}", "type": "text", "state": "normal"},
}


def _list(client: Client, line: Line, noun: str, records: int, tell: Tell) -> Room:
    """All of them at once, against one."""
    ids: list[str] = []
    for n in range(records):
        ids.append(client.post(f"/{noun}", MAKE[noun](n))["id"])
        if n % 100 == 0:
            tell(f"making {noun}s", n, records)
    one = request(client, "GET", f"/{noun}/{ids[0]}")
    everything = request(client, "GET", f"/{noun}")
    times = [(_seconds(line, everything), _seconds(line, one)) for _ in range(LOOKS)]
    whole, single = (median(column) for column in zip(*times, strict=True))
    for made in ids:
        client.delete(f"/{noun}/{made}")
    return results.room(f"{noun} list", f"times one of {records}", whole, single)


CHECK: dict[str, Callable[[str], dict[str, str]]] = {
    "scraper": lambda server: {"url": f"{server}/-/health", "status_code": "200"},
    "dstat": lambda server: {},
}


def _checks(target: Site, folder: Path, kind: str) -> Room:
    """Processor time that one check takes of the agent, against a millisecond."""
    client = target.client
    fields = {"type": kind, "host_id": target.host_id, "looptime": 1_000}
    ids = [
        client.post(
            "/monitor",
            {"name": f"belvedere bench {n}", **fields, **CHECK[kind](client.server)},
        )["id"]
        for n in range(CHECKS)
    ]
    _until_checked(client, ids)
    found = processes.idle(folder, WATCH_S)
    for made in ids:
        client.delete(f"/monitor/{made}")
    if found is None:
        raise Refused("This system does not tell what processes cost.")
    agent = next(one for one in found.processes if one.name == "agent")
    spent_s = agent.cpu_percent / 100 * found.seconds
    return results.room(f"{kind} check", "ms of the agent", spent_s / (CHECKS * WATCH_S), 1e-3)


def _until_checked(client: Client, ids: list[str]) -> None:
    give_up_at = time.monotonic() + BEGIN_S
    while time.monotonic() < give_up_at:
        states = {one["id"]: one["state"] for one in client.get("/monitor")}
        if all(states[made] not in ("unknown", "updates_stopped") for made in ids):
            return
        time.sleep(0.2)
    raise Refused("The checks did not begin; is the agent alive?")


def _seconds(line: Line, asked: bytes) -> float:
    began = time.perf_counter()
    status, body = line.ask(asked)
    took = time.perf_counter() - began
    if status != 200:
        raise Refused(f"The bench was refused (status {status}): {body[:300]!r}")
    return took


def _poured(lines: Sequence[Line], asked: bytes) -> float:
    began = time.perf_counter()
    load.at_once(lines, asked, INCREMENTS)
    return time.perf_counter() - began
