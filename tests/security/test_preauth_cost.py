"""What anybody can make the server spend: every anonymous route, at every documented limit.

The routes come from the table, so a new anonymous route is covered without a change here. Costs
are processor time of the event loop's thread, compared with a plain request of the same run.
"""

import asyncio
import hashlib
import hmac
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from belvedere.access.limits.anonymous_requests import SMALL_BODY
from belvedere.access.limits.rate_limits import Kind
from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.jobs.api.request_size import MAX_BODY
from belvedere.rest import off_loop
from belvedere.rest.route import Route
from belvedere.server.routes import PAGES, ROUTES
from belvedere.server.transport import http_protocol as protocol
from contract.client import Client
from contract.test_webhooks import secret_of
from contract.world import World
from security.serving import Site, read_answer, request, serving
from server.listening import PATIENCE_S

ANONYMOUS = [route for route in (*ROUTES, *PAGES) if route.level == "anonymous"]
WITH_BODY = [route for route in ANONYMOUS if route.body is not None or route.raw_body]
BY_SECRET = [route for route in WITH_BODY if "{secret}" in route.path or "signed" in route.path]
JSON = {"content-type": "application/json"}
# A plain request takes about half a millisecond; the limit is 100 ms of the event loop.
MAX_RATIO = 150
MAX_MEMORY = 64 << 20
HERE = "127.0.0.1"

# The engine does not matter to what happens before it is asked.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


def target(route: Route) -> str:
    path = route.path.replace("{secret}", "0" * 64).replace("{rest...}", "jobs")
    for part in path.split("/"):
        if part.startswith("{"):
            path = path.replace(part, "0" * 24 if part.endswith("id}") else "x")
    return f"{path}?customer=acme" if route.style == "both" else path


async def head_only(site: Site, method: str, to: str, length: int) -> int:
    """The status that is answered while no byte of the announced body has been sent."""
    reader, writer = await site.open()
    writer.write(request(method, to, {**JSON, "content-length": str(length)}))
    async with asyncio.timeout(PATIENCE_S):
        answer = await read_answer(reader)
    writer.transport.abort()
    return answer.status


async def cost_of(work: Callable[[], Any]) -> float:
    """Processor time of this thread, which is the event loop's; the least of three."""
    costs = []
    for _ in range(3):
        before = time.thread_time()
        await work()
        costs.append(time.thread_time() - before)
    return min(costs)


async def ratio(site: Site, raw: bytes) -> float:
    """What a request costs, in plain requests."""
    plain = await cost_of(lambda: site.answer(request("GET", "/-/health")))
    return await cost_of(lambda: site.answer(raw)) / plain


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
async def test_every_anonymous_body_is_admitted_first(world: World, route: Route) -> None:
    """An address that was wrong too often is refused before its body is read."""
    assert route.admit is not None and route.max_body <= MAX_BODY
    for kind in Kind:
        for object_id in ("", "0" * 24):
            for _ in range(20):
                world.house.limits.wrong(HERE, kind=kind, target=object_id)
    async with serving(world.app) as site:
        assert await head_only(site, route.method, target(route), 1_000) == 429


@pytest.mark.parametrize("route", BY_SECRET, ids=name_of)
async def test_a_wrong_secret_is_refused_before_the_body_is_read(
    world: World, route: Route
) -> None:
    async with serving(world.app) as site:
        for length in (1_000, 16 << 20, 1 << 40):
            assert await head_only(site, route.method, target(route), length) == 403


@pytest.mark.parametrize("route", ANONYMOUS, ids=name_of)
async def test_a_request_at_the_limits_of_its_head_is_cheap(world: World, route: Route) -> None:
    fields = "&".join(f"a{n}=%41%42{'b' * 40}" for n in range(990))
    to = target(route)
    to += f"{'&' if '?' in to else '?'}{fields}"
    assert len(to) <= protocol.MAX_URL
    headers = {f"x{n}": "a" for n in range(protocol.MAX_HEADERS - 10)}
    headers |= {
        "content-type": "application/json" + ";a=b" * 3_000,
        "cookie": ";".join(f"a{n}=b" for n in range(1_500)),
        "if-none-match": '"a",' * 3_000,
        "range": "bytes=" + "0-1," * 1_000,
    }
    async with serving(world.app) as site:
        assert await ratio(site, request(route.method, to, headers, b"{}")) < MAX_RATIO


SHAPES: dict[str, Callable[[int], bytes]] = {
    "numbers": lambda size: b"[" + b"1," * (size // 2 - 2) + b"1]",
    "empty lists": lambda size: b"[" + b"[]," * (size // 3 - 2) + b"[]]",
    "depth": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "escapes": lambda size: b'["' + b'\\"' * (size // 2 - 2) + b'"]',
    "an open string": lambda size: b'["' + b'\\",' * (size // 3 - 1),
    "quotes": lambda size: b'"' * size,
    "a number": lambda size: b"1" * size,
    "keys": lambda size: b"{" + b'"a":1,' * (size // 6 - 2) + b'"b":1}',
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
async def test_a_body_at_the_limit_is_cheap(world: World, route: Route, shape: str) -> None:
    body = SHAPES[shape](route.max_body)
    async with serving(world.app) as site:
        world.house.limits = world.house.turnstile.limits = type(world.house.limits)(
            world.house.clock, per_minute=100_000
        )
        found = await ratio(site, request(route.method, target(route), JSON, body))
    assert found < MAX_RATIO


class Hook:
    """A task and a webhook with their secrets."""

    async def made(self, world: World, ada: Client) -> "Hook":
        task = await world.task(task_arguments=[{"type": "input", "label": "a"}])
        secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
        self.task = f"/job/secret/{secret}?customer=acme&task={task}"
        self.unnamed = f"/job/secret/{secret}?customer=acme"
        hook = (await ada.post("/acme/webhook", {"name": "in", "signature": "hmac-sha256"})).json
        self.secret = await secret_of(ada, hook["id"])
        self.signed = f"/acme/webhook/{hook['id']}/trigger/signed"
        return self


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_right_secret_cannot_block_others_either(
    world: World, ada: Client, shape: str
) -> None:
    hook = await Hook().made(world, ada)
    body = SHAPES[shape](MAX_BODY)
    async with serving(world.app) as site:
        assert await ratio(site, request("POST", hook.task, JSON, body)) < MAX_RATIO
        body = SHAPES[shape](1 << 20)
        mac = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {**JSON, "x-belvedere-signature": f"sha256={mac}"}
        assert await ratio(site, request("POST", hook.signed, headers, body)) < MAX_RATIO


async def test_a_signature_is_checked_before_the_body_is_parsed(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = await Hook().made(world, ada)
    parsed: list[bytes] = []
    monkeypatch.setattr(json_text, "parse", lambda raw, **_: parsed.append(raw))
    headers = {**JSON, "x-belvedere-signature": f"sha256={'0' * 64}"}
    async with serving(world.app) as site:
        refused = await site.answer(request("POST", hook.signed, headers, b"[1]"))
    assert (refused.status, refused.code, parsed) == (403, "wrong_signature", [])


async def test_sixteen_megabytes_are_not_held_for_a_wrong_secret(world: World) -> None:
    """The review's request, and another that is held for nobody."""
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
    hook = await Hook().made(world, ada)
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
            made = await site.answer(request("POST", to, JSON, body.encode()))
        assert made.status == 200


async def test_a_large_body_is_parsed_in_a_thread(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = await Hook().made(world, ada)
    loops: list[bool] = []
    parse = json_text.parse

    def noted(raw: bytes, **more: Any) -> Any:
        try:
            asyncio.get_running_loop()
            loops.append(True)
        except RuntimeError:
            loops.append(False)
        return parse(raw, **more)

    monkeypatch.setattr(json_text, "parse", noted)
    async with serving(world.app) as site:
        for size in (1_000, off_loop.MAX_ON_LOOP + 1):
            body = b'{"task_arguments": ["%s"]}' % (b"a" * size)
            await site.answer(request("POST", hook.task, JSON, body))
    assert loops == [True, False]


def test_values_are_counted_outside_of_strings(engine: str) -> None:
    most = 10
    json_text.parse(b"[" + b"1," * 9 + b"1]", most=most)
    json_text.parse(b'["' + b",[{" * 1_000 + b'"]', most=most)
    json_text.parse(b'["a\\",[\\\\", 1]', most=most)
    for refused in (b"[" + b"1," * 10 + b"1]", b"[" * 11 + b"]" * 11, b'["a",' + b'"b",' * 10):
        with pytest.raises(Invalid, match="more than 10 values"):
            json_text.parse(refused, most=most)


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
