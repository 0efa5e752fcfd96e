"""Ends of jobs are published on Redis; a Redis that is down affects nothing else."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from belvedere.base.errors import Invalid
from belvedere.events import cursors
from belvedere.server.background import consumers, job_publishing
from belvedere.server.redis import connection
from belvedere.server.redis import publisher as publishing
from belvedere.server.redis.connection import RedisConnection, RedisError, encode, parse
from belvedere.server.redis.publisher import MAX_AGE, MAX_WAITING, RedisMessage, RedisPublisher
from contract.client import Client
from contract.running import create, run, show
from contract.world import World
from e2e.certificate import self_signed
from manual_clock import ManualClock
from server.redis_server import PASSWORD, Subscriber, free_port, serve


def address(port: int, scheme: str = "redis", password: str = PASSWORD) -> str:
    return f"{scheme}://:{quote(password, safe='')}@127.0.0.1:{port}"


@contextlib.asynccontextmanager
async def running(publisher: RedisPublisher) -> AsyncIterator[RedisPublisher]:
    task = asyncio.create_task(publisher.run())
    # It has read what waits, and can be signalled.
    await asyncio.sleep(0)
    try:
        yield publisher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def publish_events(world: World) -> None:
    await consumers.catch_up(consumers.REDIS, world.runtime)


async def test_the_end_of_a_job_is_published(world: World, ada: Client, tmp_path: Path) -> None:
    runtime, port = world.runtime, free_port()
    runtime.redis = RedisPublisher(parse(address(port)), runtime.clock)
    runtime.db.write_blocking(job_publishing.start_at_end)
    task_id = await world.task()
    async with serve(tmp_path, port), world.agent() as agent, running(runtime.redis):
        subscriber = await Subscriber.open(port)
        job = await run(ada, agent, task_id)
        await publish_events(world)
        channel, text = await subscriber.message()
        subscriber.close()
    customer_id = job["customer_id"]
    assert channel == f"{customer_id}:job-finished:{job['id']}"
    content = json.loads(text)
    assert (content["topic"], content["data"]) == (
        "job-finished",
        {
            "operation": "update",
            "organization": "acme",
            "organization_id": customer_id,
            "model_id": job["id"],
            "model_type": "ScriptJob",
        },
    )


async def channels(world: World) -> list[str]:
    """What waits to be sent, without the organization."""
    publisher = world.runtime.redis
    assert publisher is not None
    await publish_events(world)
    waiting = [message.channel.partition(":")[2] for message in publisher._messages]
    publisher._messages.clear()
    return waiting


@pytest.fixture
def offline(world: World) -> RedisPublisher:
    """A publisher that sends nothing, so that a test can read what waits."""
    publisher = RedisPublisher(parse("redis://127.0.0.1:1"), world.runtime.clock)
    world.runtime.redis = publisher
    world.runtime.db.write_blocking(job_publishing.start_at_end)
    return publisher


async def test_every_end_is_published_once(
    world: World, ada: Client, offline: RedisPublisher
) -> None:
    waiting = await create(ada, await world.task())
    assert await channels(world) == []
    assert (await ada.put(f"/acme/job/{waiting['id']}/cancel")).status == 200
    assert await channels(world) == [f"job-finished:{waiting['id']}"]
    approval = await create(ada, await world.task("ask", type="approval", approvers=["ada"]))
    assert await channels(world) == []
    assert (await ada.put(f"/acme/job/{approval['id']}/reject")).status == 200
    assert await channels(world) == [f"job-finished:{approval['id']}"]
    input_job = await create(ada, await world.task("input", type="dummy"))
    assert (await show(ada, input_job["id"]))["lifecycle"] == "finished"
    assert await channels(world) == [f"job-finished:{input_job['id']}"]
    assert await channels(world) == []


async def test_a_job_without_notifications_and_old_events_are_not_published(
    world: World, ada: Client, offline: RedisPublisher, clock: ManualClock
) -> None:
    await create(ada, await world.task("quiet", type="dummy", notify=False))
    assert await channels(world) == []
    await create(ada, await world.task("input", type="dummy"))
    clock.move(MAX_AGE / 1_000 + 1)
    assert await channels(world) == []


async def test_earlier_events_are_not_published(world: World, ada: Client) -> None:
    await create(ada, await world.task("input", type="dummy"))
    db = world.runtime.db
    db.write_blocking(job_publishing.start_at_end)
    consumer = consumers.REDIS
    assert await db.read(cursors.backlog, consumer.name, consumer.kinds) == (False, False)


async def test_a_workflow_has_its_own_topic(
    world: World, ada: Client, offline: RedisPublisher
) -> None:
    task_id = await world.task("input", type="dummy")
    body = {"name": "w", "graph": {"nodes": [{"id": "a", "task_id": task_id}], "edges": []}}
    workflow = (await ada.post("/acme/workflows", body)).json
    job = (await ada.post(f"/acme/workflows/{workflow['id']}/job", [])).json
    for consumer in consumers.CONSUMERS:
        await consumers.catch_up(consumer, world.runtime)
    assert f"workflow-job-finished:{job['id']}" in await channels(world)


def message(number: int, at: int = 0) -> RedisMessage:
    return RedisMessage(f"c{number}", str(number), at)


async def test_a_redis_that_is_down_loses_old_messages_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(publishing, "RETRY_S", (0.01,))
    port, now = free_port(), 1_000_000
    publisher = RedisPublisher(parse(address(port)), lambda: now)
    with caplog.at_level(logging.INFO, "belvedere.redis"):
        publisher.offer(message(number, now) for number in range(MAX_WAITING + 5))
        assert (publisher.dropped, len(publisher._messages)) == (5, MAX_WAITING)
        await publisher.send_waiting()
        assert len(publisher._messages) == MAX_WAITING
        now += MAX_AGE + 1
        await publisher.send_waiting()
        assert (publisher.dropped, len(publisher._messages)) == (MAX_WAITING + 5, 0)
        publisher.offer([message(1, now), message(2, now)])
        async with running(publisher), serve(tmp_path, port):
            subscriber = await Subscriber.open(port)
            publisher.offer([message(3, now)])
            items = [await subscriber.message()]
            while items[-1] != ("c3", "3"):
                items.append(await subscriber.message())
            subscriber.close()
    levels = [record.levelname for record in caplog.records]
    assert levels == ["WARNING", "INFO"]
    assert PASSWORD not in caplog.text and quote(PASSWORD, safe="") not in caplog.text


async def test_a_paused_redis_delays_only_the_publisher(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "TIMEOUT_S", 0.05)
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    publisher = RedisPublisher(parse(f"redis://127.0.0.1:{port}"), lambda: 0)
    publisher.offer([message(1)])
    await publisher.send_waiting()
    assert len(publisher._messages) == 1
    silent.close()


async def test_a_wrong_password_is_reported_without_the_password(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    publisher = RedisPublisher(parse(address(port, password="hunter2-hunter2")), lambda: 0)
    publisher.offer([message(1)])
    async with serve(tmp_path, port):
        await publisher.send_waiting()
    assert "WRONGPASS" in caplog.text and "hunter2" not in caplog.text
    assert "hunter2" not in f"{publisher.address} {publisher!r}"


async def test_tls_is_used_and_the_certificate_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = self_signed(tmp_path)
    port = free_port()
    files = ("--tls-cert-file", str(cert), "--tls-key-file", str(key), "--tls-auth-clients", "no")
    redis_address = parse(address(port, "rediss"))
    async with serve(tmp_path, port, "--port", "0", "--tls-port", str(port), *files):
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            await RedisConnection.open(redis_address)
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        client = await RedisConnection.open(redis_address)
        await client.publish([("c", "x")] * 3)
        client.close()


@pytest.mark.parametrize("reply", [b"x" * 100_000, b"$3\r\nabc\r\n", b"-ERR no\r\n", b"*1\r\n"])
async def test_another_server_than_redis_is_an_error(reply: bytes) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = await RedisConnection.open(parse(f"redis://127.0.0.1:{port}"))
    with pytest.raises(RedisError):
        await client.publish([("c", "x")])
    client.close()
    server.close()


async def test_a_message_between_two_batches_does_not_wait(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not a failure, after which the publisher would pause."""
    is_sent = asyncio.Event()

    async def send_waiting(publisher: RedisPublisher) -> None:
        if publisher._messages:
            publisher._messages.clear()
            is_sent.set()
        else:
            publisher.offer([RedisMessage("c", "x", clock())])

    monkeypatch.setattr(RedisPublisher, "send_waiting", send_waiting)
    running = asyncio.create_task(RedisPublisher(parse("redis://localhost"), clock).run())
    async with asyncio.timeout(5):
        await is_sent.wait()
    running.cancel()


def test_no_text_can_become_a_command() -> None:
    command = encode(("PUBLISH", "a\r\nFLUSHALL\r\n", "ü"))
    assert command == b"*3\r\n$7\r\nPUBLISH\r\n$13\r\na\r\nFLUSHALL\r\n\r\n$2\r\n\xc3\xbc\r\n"


@pytest.mark.parametrize(
    "url",
    [
        *("localhost", "http://hunter2@host", "redis://", "redis://:hunter2@host:70000"),
        *("redis://:hunter2@host:x", "redis://host/a", "redis://host?x=1", "redis://[::1"),
    ],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse(url)
    assert "BELVEDERE_REDIS" in refused.value.message and "hunter2" not in refused.value.message


def test_an_address_has_a_default_port_and_decoded_credentials() -> None:
    redis_address = parse("rediss://us%40er:p%2Fw@[::1]/0")
    assert (redis_address.host, redis_address.port) == ("::1", 6379)
    assert (redis_address.username, redis_address.password) == ("us@er", "p/w")
    assert str(redis_address) == "rediss://::1:6379"
