"""`/-/metrics`: who may read it, what it counts, and how much it can grow."""

import asyncio
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from belvedere.base.clock import MINUTE
from belvedere.base.counters import Histogram
from belvedere.base.errors import Refused, Unavailable
from belvedere.cli.framework.words import ORIGINS
from belvedere.db import Tx
from belvedere.db.search_lane import search_timeout
from belvedere.jobs.tallies import JobTallies
from belvedere.protocol import Sample, Samples, SamplesAck
from belvedere.server.metrics import activity, queues
from belvedere.server.metrics.api import check_settings
from belvedere.server.metrics.collect import Metrics
from belvedere.server.metrics.listener import MetricsListener
from belvedere.server.metrics.queues import OTHER, TOP_HOSTS, HostState, OpenJobs
from belvedere.server.metrics.text_format import Family, Labels, histogram, render
from belvedere.server.runtime import ServerRuntime
from belvedere.settings import Settings
from contract.client import Client
from contract.running import create, run
from contract.world import World
from manual_clock import ManualClock
from server.metrics_client import TOKEN, bearer, parse, read_figures
from server.redis_server import free_port


async def test_only_the_token_reads_them(
    runtime: ServerRuntime, anonymous: Client, ada: Client
) -> None:
    for client in (anonymous, ada):
        assert (await client.get("/-/metrics")).status == 401
    assert (await anonymous.get("/-/metrics", headers=bearer(""))).status == 401
    runtime.settings.metrics_token = TOKEN
    for token in ("", TOKEN[:-1], TOKEN + "x", "ä" * len(TOKEN)):
        assert (await anonymous.get("/-/metrics", headers=bearer(token))).status == 401
    assert (await ada.get("/-/metrics")).status == 401
    response = await anonymous.get("/-/metrics", headers=bearer(TOKEN))
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")


async def test_no_metric_names_a_secret(world: World, ada: Client, anonymous: Client) -> None:
    """Some routes have a secret in their path, and requests may be refused before their route is
    known."""
    task_id = await world.task()
    secret = (await ada.get(f"/acme/task/{task_id}/credentials")).json["secret"]
    body = {"task": task_id}
    for target in (
        f"/job/secret/{secret}",
        f"/job/secret/{secret}/x",
        f"/{secret}",
        f"/acme/{secret}",
    ):
        await anonymous.post(f"{target}?customer=acme&secret={secret}", body)
    world.runtime.settings.metrics_token = TOKEN
    world.runtime.of(Metrics).expire()
    text = (await anonymous.get("/-/metrics", headers=bearer(TOKEN))).text
    assert 'route="/job/secret/{secret}"' in text
    assert secret not in text


def test_a_short_token_is_refused() -> None:
    check_settings(Settings(metrics_token=TOKEN))
    with pytest.raises(Refused, match="16 characters"):
        check_settings(Settings(metrics_token="short"))


async def test_a_job_is_counted(world: World, ada: Client, anonymous: Client) -> None:
    task_id = await world.task()
    before = await read_figures(world, anonymous)
    async with world.agent() as agent:
        await run(ada, agent, task_id)
        await create(ada, task_id)
        await agent.order()
        after = await read_figures(world, anonymous)

    def grown(name: str, **labels: str) -> float:
        return after.of(name, **labels) - before.of(name, **labels)

    assert grown("belvedere_jobs_created_total", origin="user") == 2
    assert grown("belvedere_jobs_ended_total", state="normal", origin="user") == 1
    assert grown("belvedere_job_assign_seconds_count") == 2
    assert grown("belvedere_job_start_seconds_count") == 1
    assert grown("belvedere_job_end_seconds_count") == 1
    route = {"method": "POST", "route": "/job", "status": "200"}
    assert grown("belvedere_http_requests_total", **route) == 2
    assert grown("belvedere_http_request_seconds_count") >= 2
    assert grown("belvedere_database_commit_seconds_count") > 0
    assert grown("belvedere_database_transaction_seconds_count") > 0
    assert after.of("belvedere_jobs_open", lifecycle="assigned", origin="user") == 1
    assert after.of("belvedere_agents_connected") == 1
    assert after.of("belvedere_hosts", state="connected") == 1
    assert after.of("belvedere_database_up") == 1
    assert after.of("belvedere_database_scrape_complete") == 1
    assert after.of("belvedere_disk_free_bytes") > 0
    assert after.of("process_open_fds") > 0


async def test_lost_jobs_are_counted_from_zero(
    world: World, anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tallies = JobTallies()
    monkeypatch.setattr(activity, "TALLIES", tallies)
    figures = await read_figures(world, anonymous)
    series = {key for key in figures if key[0] == "belvedere_jobs_ended_total"}
    labels = [(("origin", origin), ("state", "lost")) for origin in ORIGINS]
    assert series == {("belvedere_jobs_ended_total", pair) for pair in labels}
    tallies.ended["lost", "user"] = 1
    figures = await read_figures(world, anonymous)
    assert figures.of("belvedere_jobs_ended_total", state="lost", origin="user") == 1


async def test_results_of_monitors_are_counted(
    world: World, ada: Client, anonymous: Client
) -> None:
    fields = {"name": "shop", "type": "scraper", "url": "http://shop.test/", "looptime": 30_000}
    host_id = world.things.hosts["web-1"].host_id
    monitor = (await ada.post("/acme/monitor", {**fields, "host_id": host_id})).json
    before = await read_figures(world, anonymous)
    async with world.agent() as agent:
        samples = [
            Sample(monitor["id"], 1, 40_000, "failure"),
            Sample(monitor["id"], 1, 2_000, "normal"),
            Sample(monitor["id"], 1, 2_000, "normal"),
            # Of an older configuration.
            Sample(monitor["id"], 0, 2_000, "normal"),
        ]
        for _ in range(2):
            await agent.send_messages(Samples("s", 1, samples))
            await agent.hear(SamplesAck)
    after = await read_figures(world, anonymous)

    def grown(name: str, **labels: str) -> float:
        return after.of(name, **labels) - before.of(name, **labels)

    # A batch that was sent twice counts once.
    assert grown("belvedere_monitor_results_total", state="normal") == 2
    assert grown("belvedere_monitor_results_total", state="failure") == 1
    lag = "belvedere_monitor_result_lag_seconds"
    assert (grown(f"{lag}_count"), grown(f"{lag}_sum")) == (3, 44)
    assert [grown(f"{lag}_bucket", le=le) for le in ("1.0", "2.5", "30.0", "60.0")] == [0, 2, 2, 3]


async def test_waiting_jobs_have_an_age_and_a_reason(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    await create(ada, await world.task())
    clock.move(60)
    await create(ada, await world.task("later"))
    figures = await read_figures(world, anonymous)
    labels = {"organization": "acme", "host": "web-1", "reason": "host_offline"}
    assert figures.of("belvedere_queue_jobs", **labels) == 2
    assert figures.of("belvedere_queue_age_seconds", **labels) == 60


async def test_a_consumer_that_stopped_has_a_lag(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    task_id = await world.task()
    assert (await ada.delete(f"/acme/task/{task_id}")).status < 300
    clock.move(60)
    figures = await read_figures(world, anonymous)
    lag = figures.of("belvedere_event_lag_seconds", consumer="jobs of deleted tasks expire")
    assert lag == 60


def _messages_and_monitors(tx: Tx, customer_id: str) -> None:
    tx.execute(
        "insert into messages (id, customer_id, recipient, state, severity, title, notices, more,"
        " due_at, attempts, counted_from, tries, created_at)"
        " values ('m1', ?, '', 'waiting', 'LOW', '', '[]', 0, ?, 0, 0, '[]', ?)",
        *(customer_id, tx.now - MINUTE, tx.now),
    )


async def test_a_message_that_is_not_sent_has_an_age(
    world: World, runtime: ServerRuntime, anonymous: Client
) -> None:
    runtime.db.write_blocking(_messages_and_monitors, world.actors.ada.customer_id)
    figures = await read_figures(world, anonymous)
    assert figures.of("belvedere_outbox_messages") == 1
    assert figures.of("belvedere_outbox_age_seconds") == 60


async def test_paths_of_clients_create_no_counters(world: World, anonymous: Client) -> None:
    for n in range(30):
        await anonymous.get(f"/nowhere-{n}/at-all")
        await anonymous.request(f"BREW{n}", f"/pot-{n}")
    figures = await read_figures(world, anonymous)
    names = [key for key in figures if key[0] == "belvedere_http_requests_total"]
    assert len(names) < 10
    assert (
        figures.of("belvedere_http_requests_total", method="other", route="other", status="404")
        >= 30
    )


async def test_without_the_database_the_process_still_answers(
    world: World, anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise Unavailable("gone")

    monkeypatch.setattr(world.runtime.db, "search", refuse)
    figures = await read_figures(world, anonymous)
    assert figures.of("belvedere_database_up") == 0
    assert figures.of("process_open_fds") > 0


async def test_a_slow_read_of_the_metrics_does_not_mean_that_the_database_is_down(
    world: World, anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def time_out(*_: object) -> None:
        raise search_timeout()

    monkeypatch.setattr(world.runtime.db, "search", time_out)
    figures = await read_figures(world, anonymous)
    assert figures.of("belvedere_database_up") == 1
    assert figures.of("belvedere_database_scrape_complete") == 0

    async def refuse(*_: object) -> None:
        raise Unavailable("gone")

    monkeypatch.setattr(world.runtime.db, "read", refuse)
    assert "\nbelvedere_database_up 0\n" in await Metrics(world.runtime).text()


async def test_readers_within_seconds_share_one_collection(
    world: World, anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    search = world.runtime.db.search

    async def count(*arguments: object) -> object:
        calls.append(arguments)
        return await search(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(world.runtime.db, "search", count)
    metrics = Metrics(world.runtime)
    texts = await asyncio.gather(*(metrics.text() for _ in range(5)))
    assert len(set(texts)) == len(calls) == 1


# The bounds, without a server.


def open_jobs(host: int, count: int, since: int) -> OpenJobs:
    return OpenJobs("ready", "ScriptJob", "user", f"h{host}", None, 0, 0, count, since)


def host_state(number: int, **fields: object) -> HostState:
    values = {"enabled": 1, "draining": 0, "connected_at": 1, "gone_at": None}
    values |= {"disk_full_at": None, "slots": 1, **fields}  # type: ignore[dict-item]
    return HostState(f"h{number}", f"web-{number}", "acme", **values)  # type: ignore[arg-type]


def values_of(families: Iterator[Family], name: str) -> dict[Labels, float]:
    return next(dict(family.values) for family in families if family.name == name)


def test_only_the_longest_waits_have_their_own_host() -> None:
    count = 500
    jobs = [open_jobs(n, 2, since=n) for n in range(count)]
    hosts = [host_state(n) for n in range(count)]
    ages = values_of(queues.families(jobs, hosts, 1_000_000), "belvedere_queue_age_seconds")
    assert len(ages) == TOP_HOSTS + 1
    assert ages["acme", "web-0", "queued"] == 1_000
    counts = values_of(queues.families(jobs, hosts, 1_000_000), "belvedere_queue_jobs")
    assert counts["", OTHER, "queued"] == 2 * (count - TOP_HOSTS)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"enabled": 0}, "host_disabled"),
        ({"draining": 1}, "host_draining"),
        ({"connected_at": None}, "host_offline"),
        ({"gone_at": 5}, "host_offline"),
        ({"disk_full_at": 5}, "host_disk_full"),
        ({"slots": 0}, "host_busy"),
        ({}, "queued"),
    ],
)
def test_the_reason_follows_from_the_host(fields: dict[str, object], reason: str) -> None:
    families = queues.families([open_jobs(1, 1, 0)], [host_state(1, **fields)], 0)
    assert list(values_of(families, "belvedere_queue_jobs")) == [("acme", "web-1", reason)]


def test_two_long_names_with_the_same_start_are_one_series() -> None:
    hosts = [host_state(1), host_state(2)]
    for host in hosts:
        host.hostname = "x" * 250 + host.hostname
    text = render(queues.families([open_jobs(1, 2, 5), open_jobs(2, 3, 9)], hosts, 1_009))
    lines = [line for line in text.splitlines() if line.startswith("belvedere_queue")]
    assert [line.rpartition(" ")[2] for line in lines] == ["5", "1.004"]
    assert f'host="{"x" * 200}"' in lines[0]


def test_labels_cannot_break_the_format() -> None:
    name = 'a"b\\c\nd{e="f"} 1 ' + "x" * 100
    text = render([Family("x_total", "counter", "a\nb\\", ("host",), [((name,), 3)])])
    (sample,) = [key for key in parse(text)]
    assert sample[1][0][1] == name
    assert len(text.splitlines()) == 3


def test_a_histogram_is_cumulative() -> None:
    times = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0, -3.0):
        times.observe(seconds)
    (family,) = text_string_to_metric_families(render([histogram("t_seconds", "t", times)]))
    assert {sample.labels.get("le", sample.name): sample.value for sample in family.samples} == {
        "0.1": 3,
        "1.0": 4,
        "+Inf": 5,
        "t_seconds_sum": 7.65,
        "t_seconds_count": 5,
    }


# The listener of its own.


async def request_text(port: int, head: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode())
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer.decode()


async def test_metrics_have_their_own_listener(runtime: ServerRuntime) -> None:
    port = free_port()
    runtime.settings.metrics_listen = f"127.0.0.1:{port}"
    server = await MetricsListener(runtime).listen()
    try:
        answer = await request_text(port, "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n")
        assert answer.startswith("HTTP/1.1 200 ")
        assert parse(answer.partition("\r\n\r\n")[2])
        assert (await request_text(port, "GET /job HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 404 ")
        assert (await request_text(port, "nonsense\r\n\r\n")).startswith("HTTP/1.1 404 ")
        assert await request_text(port, "GET /metrics HTTP/1.1\r\nx: " + "y" * 70_000) == ""
        runtime.settings.metrics_token = TOKEN
        head = "GET /-/metrics HTTP/1.1\r\n"
        assert (await request_text(port, f"{head}\r\n")).startswith("HTTP/1.1 401 ")
        signed = f"{head}Authorization: Bearer {TOKEN}\r\n\r\n"
        assert (await request_text(port, signed)).startswith("HTTP/1.1 200 ")
    finally:
        server.close()


@pytest.mark.parametrize("text", ["9420", "localhost", "127.0.0.1:", ":x"])
async def test_the_metrics_address_must_be_complete(runtime: ServerRuntime, text: str) -> None:
    runtime.settings.metrics_listen = text
    with pytest.raises(Refused, match="address:port"):
        await MetricsListener(runtime).listen()
