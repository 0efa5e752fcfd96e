"""What an anonymous client can cost the server: every anonymous route, at every documented limit.

The routes come from the table, so a new anonymous route is covered without a change here. Costs
are processor time of the event loop's thread, compared with a plain request of the same run.
"""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from belvedere.access.anonymous_requests import SMALL_BODY
from belvedere.access.crypto import password_hash
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.signin import password_checker
from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs.api.request_size import MAX_BODY, MAX_FILE_BODY
from belvedere.rest.request import MAX_ON_LOOP
from belvedere.rest.route import Route
from belvedere.server.routes import PAGES, ROUTES
from belvedere.statuspages.model import MAX_PARTS
from belvedere.statuspages.public_status import Status, status
from contract.client import Client
from contract.test_webhooks import secret_of
from contract.world import World
from security.cost_inputs import JSON, SHAPES, CostInputs, target
from security.cost_table import AGENT_UPGRADE, OF_HEAD, TABLE, Cost
from security.counting import steps
from security.serving import Site, read_answer, request, serving
from server.listening import PATIENCE_S

ANONYMOUS = [route for route in (*ROUTES, *PAGES) if route.level == "anonymous"]
WITH_BODY = [route for route in ANONYMOUS if route.body is not None or route.raw_body]
BY_SECRET = [route for route in WITH_BODY if "{secret}" in route.path or "signed" in route.path]
PLAIN = request("GET", "/-/health")
MAX_MEMORY = 64 << 20
HERE = "127.0.0.1"

# The engine does not matter for what happens before the database is used.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


async def head_only(site: Site, method: str, to: str, length: int) -> int:
    """The status of the response while no byte of the announced body has been sent."""
    reader, writer = await site.open()
    writer.write(request(method, to, {**JSON, "content-length": str(length)}))
    async with asyncio.timeout(PATIENCE_S):
        answer = await read_answer(reader)
    writer.transport.abort()
    return answer.status


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
async def test_every_anonymous_body_is_admitted_first(world: World, route: Route) -> None:
    """An address with too many wrong attempts is refused before its body is read."""
    assert route.admit is not None and route.max_body <= MAX_BODY
    for kind in AttemptKind:
        for object_id in ("", "0" * 24):
            for _ in range(20):
                world.runtime.limits.record_failure(HERE, kind=kind, target=object_id)
    async with serving(world.app) as site:
        assert await head_only(site, route.method, target(route), 1_000) == 429


@pytest.mark.parametrize("route", BY_SECRET, ids=name_of)
async def test_a_wrong_secret_is_refused_before_the_body_is_read(
    world: World, route: Route
) -> None:
    async with serving(world.app) as site:
        for length in (1_000, 16 << 20, 1 << 40):
            assert await head_only(site, route.method, target(route), length) == 403


def test_every_anonymous_route_has_rows(engine: str) -> None:
    assert set(TABLE) == {name_of(route) for route in ANONYMOUS}
    for route in ANONYMOUS:
        rows = TABLE[name_of(route)]
        assert set(OF_HEAD) <= set(rows)
        assert route not in WITH_BODY or len(rows) >= len(OF_HEAD) + len(SHAPES)


async def cost_of(site: Site, raw: bytes) -> float:
    """Processor time of this thread, which is the event loop's; the least of three."""
    costs = []
    for _ in range(3):
        before = time.thread_time()
        await site.answer(raw)
        costs.append(time.thread_time() - before)
    return min(costs)


async def memory_of(site: Site, raw: bytes) -> int:
    """The largest amount of memory that was allocated in the meantime."""
    tracemalloc.start()
    try:
        await site.answer(raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def forget_limits(world: World) -> None:
    """Rows must be measured, not refused as too many."""
    limits = type(world.runtime.limits)(world.runtime.clock, per_minute=100_000)
    world.runtime.limits = world.runtime.passwords.limits = limits


@pytest.fixture
def clean_heap() -> Iterator[None]:
    """The garbage collector does not process what other tests left."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("clean_heap")
@pytest.mark.parametrize("route", ANONYMOUS, ids=name_of)
async def test_the_worst_request_that_a_limit_allows_is_cheap(
    world: World, ada: Client, route: Route
) -> None:
    assert await expensive_rows(world, ada, TABLE[name_of(route)], route) == []


@pytest.mark.usefixtures("clean_heap")
@pytest.mark.parametrize("cost", AGENT_UPGRADE, ids=lambda cost: cost.limit)
async def test_the_worst_anonymous_upgrade_of_an_agent_is_cheap(
    world: World, ada: Client, cost: Cost
) -> None:
    assert await expensive_rows(world, ada, (cost,), ROUTES[0]) == []
    assert len(world.runtime.agents) == 0


async def expensive_rows(
    world: World, ada: Client, rows: tuple[Cost, ...], route: Route
) -> list[tuple[str, float, int]]:
    """The rows that cost more than is allowed: limit, ratio to a plain request, memory."""
    scene, expensive = CostInputs(world, ada), []
    async with serving(world.app) as site:
        plain = min([await cost_of(site, PLAIN) for _ in range(3)])
        for cost in rows:
            forget_limits(world)
            raw = await cost.worst(scene, route)
            answer = await site.answer(raw)
            assert answer.status in cost.statuses, (cost.limit, answer.status, answer.body[:300])
            pair = (await cost_of(site, raw) / plain, await memory_of(site, raw))
            if pair[0] > cost.ratio or pair[1] > cost.memory:
                expensive.append((cost.limit, *pair))
    return expensive


async def test_a_status_page_reads_the_tags_of_each_monitor_once(world: World, ada: Client) -> None:
    """MAX_PARTS parts by tag: the cost was their number times the number of monitors."""
    for n in range(20):
        body = {"name": f"m{n}", "type": "push", "looptime": 60_000, "tags": ["web", "x"]}
        assert (await ada.post("/acme/monitor", body)).status == 200
    for slug, count in (("small", 1), ("large", MAX_PARTS)):
        parts = [{"name": f"p{n}", "tag": ["web", "x"][n % 2]} for n in range(count)]
        page = {"title": "t", "slug": slug, "parts": parts}
        assert (await ada.post("/acme/statuspage", page)).status == 201

    def count_steps(tx: Tx, slug: str) -> int:
        return steps(lambda: status(tx, slug))

    small, large = (
        world.runtime.db.write_blocking(count_steps, slug) for slug in ("small", "large")
    )
    assert large < 10 * small


async def test_concurrent_requests_build_a_status_page_once(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"title": "t", "slug": "acme-page", "parts": []}
    assert (await ada.post("/acme/statuspage", body)).status == 201
    calls: list[str] = []

    def count_status(tx: Tx, slug: str) -> Status:
        calls.append(slug)
        return status(tx, slug)

    monkeypatch.setattr("belvedere.statuspages.api.status", count_status)
    client = world.client()
    answers = await asyncio.gather(*(client.get("/-/status/acme-page") for _ in range(20)))
    assert {answer.status for answer in answers} == {200} and calls == ["acme-page"]


def test_passwords_that_are_checked_at_once_need_limited_memory(engine: str) -> None:
    """Argon2 takes its memory outside of what the other rows measure."""
    assert password_checker.MAX_PARALLEL * password_hash._MEMORY_KIB * 1024 < MAX_MEMORY


class Hook:
    """A task and a webhook with their secrets."""

    async def create(self, world: World, ada: Client) -> "Hook":
        task = await world.task(task_arguments=[{"type": "input", "label": "a"}])
        secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
        self.task = f"/job/secret/{secret}?customer=acme&task={task}"
        self.unnamed = f"/job/secret/{secret}?customer=acme"
        hook = (await ada.post("/acme/webhook", {"name": "in", "signature": "hmac-sha256"})).json
        self.secret = await secret_of(ada, hook["id"])
        self.signed = f"/acme/webhook/{hook['id']}/trigger/signed"
        return self


async def test_a_signature_is_checked_before_the_body_is_parsed(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = await Hook().create(world, ada)
    parsed: list[bytes] = []
    monkeypatch.setattr(json_text, "parse", lambda raw, **_: parsed.append(raw))
    headers = {**JSON, "x-belvedere-signature": f"sha256={'0' * 64}"}
    async with serving(world.app) as site:
        refused = await site.answer(request("POST", hook.signed, headers, b"[1]"))
    assert (refused.status, refused.code, parsed) == (403, "wrong_signature", [])


async def test_sixteen_megabytes_are_not_buffered_for_a_wrong_secret(world: World) -> None:
    """The request of the review, and another one that belongs to no one."""
    headers = {**JSON, "content-length": str(16 << 20)}
    head = request("POST", f"/job/secret/{'0' * 64}?customer=acme", headers)
    piece = b"1," * 32_768
    async with serving(world.app) as site:
        await site.answer(request("GET", "/-/health"))
        tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            assert (await site.answer(head, *[piece] * 256)).status == 403
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()


async def test_a_right_secret_takes_a_limited_body_and_memory(world: World, ada: Client) -> None:
    hook = await Hook().create(world, ada)
    async with serving(world.app) as site:
        for to in (hook.task, hook.unnamed):
            assert await head_only(site, "POST", to, MAX_BODY + 1) == 413
        raw = request("POST", hook.task, JSON, SHAPES["numbers"](MAX_BODY))
        tracemalloc.start()
        try:
            assert (await site.answer(raw)).status == 400
            assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
        finally:
            tracemalloc.stop()


async def test_a_task_that_takes_a_file_takes_a_large_body(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "file", "label": "a"}])
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    content = "QUJD" * (1 << 19)
    body = json_text.compact({"task_arguments": [f"data:text/plain;name=a.txt;base64,{content}"]})
    assert len(body) > MAX_BODY
    for to in (
        f"/job/secret/{secret}?customer=acme&task={task}",
        f"/task/{task}/secret/{secret}/job",
    ):
        async with serving(world.app) as site:
            raw_response = await site.answer(request("POST", to, JSON, body.encode()))
        assert raw_response.status == 200


async def test_the_largest_body_with_a_file_needs_limited_memory(world: World, ada: Client) -> None:
    """The only limit that allows more than 64 MB: for holders of the secret of such a task."""
    task = await world.task(task_arguments=[{"type": "file", "label": "a"}])
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    content = b"QUJD" * ((MAX_FILE_BODY - 1_000) // 4)
    body = b'{"task_arguments": ["data:text/plain;name=a.txt;base64,%s"]}' % content
    raw = request("POST", f"/task/{task}/secret/{secret}/job", JSON, body)
    async with serving(world.app) as site:
        peak = await memory_of(site, raw)
    assert peak < 3 * MAX_FILE_BODY


async def test_a_large_body_is_parsed_in_a_thread(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = await Hook().create(world, ada)
    loops: list[bool] = []
    parse = json_text.parse

    def record_loop(raw: bytes, **more: Any) -> Any:
        try:
            asyncio.get_running_loop()
            loops.append(True)
        except RuntimeError:
            loops.append(False)
        return parse(raw, **more)

    monkeypatch.setattr(json_text, "parse", record_loop)
    async with serving(world.app) as site:
        for size in (1_000, MAX_ON_LOOP + 1):
            body = b'{"task_arguments": ["%s"]}' % (b"a" * size)
            await site.answer(request("POST", hook.task, JSON, body))
    assert loops == [True, False]


def test_values_are_counted_outside_of_strings(engine: str) -> None:
    most = 10
    json_text.parse(b"[" + b"1," * 9 + b"1]", max_elements=most)
    json_text.parse(b'["' + b",[{" * 1_000 + b'"]', max_elements=most)
    json_text.parse(b'["a\\",[\\\\", 1]', max_elements=most)
    for refused in (b"[" + b"1," * 10 + b"1]", b"[" * 11 + b"]" * 11, b'["a",' + b'"b",' * 10):
        with pytest.raises(Invalid, match="more than 10 values"):
            json_text.parse(refused, max_elements=most)


@pytest.mark.parametrize("shape", SHAPES)
def test_counting_and_parsing_take_linear_time(engine: str, shape: str) -> None:
    def cost(size: int) -> float:
        costs = []
        for _ in range(3):
            before = time.thread_time()
            with pytest.raises(Invalid):
                json_text.parse(SHAPES[shape](size) + b"!")
            costs.append(time.thread_time() - before)
        return min(costs)

    assert cost(1 << 20) < 8 * cost(1 << 18) + 0.01


def test_the_bound_of_small_bodies_is_small(engine: str) -> None:
    assert SMALL_BODY <= 64 * 1024
