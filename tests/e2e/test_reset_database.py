"""PostgreSQL, or a proxy before it, resets a connection in the middle of a response: a whole server
on its own event loop, over HTTP. Every request gets a response, and work continues by itself."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import engines
from belvedere.client.errors import Problem
from e2e.wait_until import until
from e2e.world import World
from resetting_proxy import ResettingProxy

pytestmark = [pytest.mark.heavy, pytest.mark.limit(180)]
SCRIPT = "#!/bin/sh\nexit 0\n"
# Bytes of responses until the reset: within the first messages, and later while a job runs.
COUNTS = [0, 1, 4, 5, 6, 13, 30, 61, 150, 333, 700, 1_500, 4_000, 9_000]
ROUNDS = 3


@pytest.fixture
def proxy(postgres_template: str) -> Iterator[ResettingProxy]:
    with engines.postgres_copy(postgres_template) as url:
        proxy = ResettingProxy(url)
        yield proxy
        proxy.close()


@pytest.fixture
def world(proxy: ResettingProxy, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, proxy.url) as world:
        assert world.start(), world.server.read_log()
        yield world


def send(world: World, method: str, path: str, body: object, **headers: str) -> str:
    """The id in the response; empty for 503. The client's limit is far above the server's."""
    with world.client(timeout_s=60) as client:
        try:
            return str(client.request(method, path, body, headers=headers).body["id"])
        except Problem as problem:
            assert problem.status == 503, problem
            return ""


def create(world: World, task: str) -> str:
    key = {"Idempotency-Key": uuid4().hex}
    return until(lambda: send(world, "POST", "/job", {"task": task}, **key))


def test_a_reset_blocks_no_request(world: World, proxy: ResettingProxy) -> None:
    task = world.task(SCRIPT, world.agent("web"))
    assert world.wait_ended(create(world, task))["state"] == "normal"
    for count in COUNTS * ROUNDS:
        proxy.reset_after(count)
        job_id = create(world, task)
        send(world, "GET", f"/task/{task}", None)
        until(lambda: not proxy.is_armed)
        until(lambda job_id=job_id: has_ended(world, job_id))  # type: ignore[misc]
    world.doctor()


def has_ended(world: World, job_id: str) -> bool:
    try:
        return bool(world.job(job_id)["state"] == "normal")
    except Problem as problem:
        assert problem.status == 503, problem
        return False
