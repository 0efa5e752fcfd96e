"""Hidden credentials stay with the scheme, host and port that they were entered for."""

from typing import Any

import pytest

from contract.browser_journey import add, provider_of
from contract.client import Client
from contract.world import World

HOME = "https://api.acme.test/x?key=k3y-in-url"
TOKEN = "Bearer t0ken-of-acme"
REQUEST: dict[str, Any] = {"url": HOME, "headers": {"Authorization": TOKEN}, "method": "GET"}
MASKED = {"Authorization": "***"}
ELSEWHERE = [
    "https://evil.test/x",
    "http://api.acme.test/x",
    "https://api.acme.test:8443/x",
    "https://api.acme.test.evil.test/x",
    "https://api.acme.test@evil.test/x",
    "https://evil.test/x?key=***",
]


async def create_sender(world: World, ada: Client, kind: str) -> str:
    """An object of this kind that sends the request; its address."""
    if kind == "task":
        return f"/acme/task/{await world.task(type='scraper', script=None, **REQUEST)}"
    body: dict[str, Any] = {"name": "m", "type": "scraper", "hostname": "web-1", **REQUEST}
    if kind == "monitor":
        answer = await ada.post("/acme/monitor", {**body, "looptime": 60_000})
        assert answer.status == 200, answer.text
        return f"/acme/monitor/{answer.json['id']}"
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", ["task", "monitor"])
@pytest.mark.parametrize("url", ELSEWHERE)
async def test_a_hidden_value_is_not_sent_to_another_address(
    world: World, ada: Client, kind: str, url: str
) -> None:
    target = await create_sender(world, ada, kind)
    for body in ({"url": url}, {"url": url, "headers": MASKED}):
        refused = await ada.patch(target, body)
        assert (refused.status, refused.code) == (400, "masked_value"), refused.text
        assert "Enter them again" in refused.text and "t0ken" not in refused.text
    # If it is entered again, the caller already knows it.
    entered = await ada.patch(target, {"url": ELSEWHERE[0], "headers": {"Authorization": TOKEN}})
    assert entered.status == 200, entered.text


@pytest.mark.parametrize("kind", ["task", "monitor"])
async def test_another_path_of_the_same_host_keeps_the_values(
    world: World, ada: Client, kind: str
) -> None:
    target = await create_sender(world, ada, kind)
    for url in ("https://API.acme.test:443/y?key=***", "https://api.acme.test/z"):
        changed = await ada.patch(target, {"url": url, "headers": MASKED})
        assert changed.status == 200, changed.text


@pytest.mark.parametrize("kind", ["task", "monitor"])
async def test_an_address_without_the_hidden_values_may_be_any(
    world: World, ada: Client, kind: str
) -> None:
    target = await create_sender(world, ada, kind)
    changed = await ada.patch(target, {"url": "https://evil.test/", "headers": {"a": "b"}})
    assert changed.status == 200, changed.text


async def test_a_definition_keeps_to_its_address_too(ada: Client) -> None:
    task = {"name": "t", "type": "scraper", **REQUEST}
    monitor = {"name": "m", "type": "scraper", "looptime": 60_000, **REQUEST}
    for kind, definition in (("task", task), ("monitor", monitor)):
        body = {"kind": kind, "host_tag": "web", "definition": definition}
        answer = await ada.post("/acme/definition", body)
        assert answer.status in (200, 201), answer.text
        moved = {**definition, "url": "https://evil.test/", "headers": MASKED}
        target = f"/acme/definition/{answer.json['id']}"
        refused = await ada.put(target, {**body, "definition": moved})
        assert (refused.status, refused.code) == (400, "masked_value"), refused.text


async def test_another_issuer_does_not_get_the_client_secret(world: World) -> None:
    at = provider_of(world)
    target = f"/api/provider/{await add(world)}"
    at.issuer = "https://other.example.com/realm"
    olga = world.client("olga")
    refused = await olga.patch(target, {"issuer": at.issuer})
    assert refused.status == 400 and "client_secret" in refused.text
    changed = await olga.patch(target, {"issuer": at.issuer, "client_secret": "another"})
    assert changed.status == 200, changed.text
