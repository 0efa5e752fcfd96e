"""The server offers its own version to agents that have another one."""

import hashlib
from typing import Any

import pytest

from belvedere import __version__
from belvedere.agent.updates import signature
from belvedere.base.errors import Invalid
from belvedere.hosts import service
from belvedere.protocol import UpdateOffer
from belvedere.server.agents import package, updates
from belvedere.settings import Settings
from contract.client import Client
from contract.fakeagent import hello
from contract.running import create
from contract.world import World

OLD, NEWER = "0.0.9", "99.0.0"


async def host_of(client: Client, hostname: str = "web-1") -> dict[str, Any]:
    hosts = (await client.get("/acme/host")).json
    return dict(next(host for host in hosts if host["hostname"] == hostname))


async def test_an_older_agent_gets_a_signed_offer_and_the_program(
    world: World, uma: Client
) -> None:
    host_id = (await host_of(uma))["id"]
    async with world.agent(agent_version=OLD, updates="pinned") as agent:
        offer = await agent.hear(UpdateOffer)
        assert (offer.version, offer.downgrade, offer.key) == (__version__, False, "")
        key = service.update_key(world.runtime.keyring, host_id)
        assert agent.welcome is not None
        assert signature.is_valid(key, host_id, agent.welcome.session, offer)
        assert not signature.is_valid(key, host_id, agent.welcome.session + 1, offer)
        content = await agent.fetch(offer.sha256)
        assert content == package.archive() and len(content) == offer.size
        assert hashlib.sha256(content).hexdigest() == offer.sha256


async def test_an_agent_without_a_key_gets_it_once_with_the_offer(
    world: World, uma: Client
) -> None:
    host_id = (await host_of(uma))["id"]
    async with world.agent(agent_version=OLD, updates="unpinned") as agent:
        offer = await agent.hear(UpdateOffer)
        assert offer.key == service.update_key(world.runtime.keyring, host_id)


async def test_a_newer_agent_is_replaced_only_if_the_server_says_so(world: World) -> None:
    settings = world.runtime.settings
    newer = hello(agent_version=NEWER, updates="pinned")
    assert not updates._is_wanted(newer, settings)
    settings.agent_downgrades = True
    async with world.agent(agent_version=NEWER, updates="pinned") as agent:
        assert (await agent.hear(UpdateOffer)).downgrade is True


def test_agents_that_accept_no_update_get_no_offer() -> None:
    settings = Settings()
    assert updates._is_wanted(hello(agent_version=OLD, updates="pinned"), settings)
    for refusing in (
        hello(agent_version=OLD),
        hello(agent_version=OLD, updates="anything"),
        hello(agent_version=__version__, updates="pinned"),
        hello(agent_version="?", updates="pinned"),
    ):
        assert not updates._is_wanted(refusing, settings)


async def test_the_setting_selects_hosts_by_tag(world: World, uma: Client) -> None:
    host = await host_of(uma)
    changed = await world.client("ada").patch(f"/acme/host/{host['id']}", {"tags": ["canary", "x"]})
    assert changed.status == 200, changed.json
    db = world.runtime.db
    for setting, is_selected in (("all", True), ("tag:canary", True), ("tag:can", False)):
        assert await db.read(updates._is_selected, host["id"], setting) is is_selected, setting
    other = await host_of(uma, "web-2")
    assert await db.read(updates._is_selected, other["id"], "tag:canary") is False
    assert await db.read(updates._is_selected, "0" * 24, "all") is False
    world.runtime.settings.agent_updates = "tag:canary"
    async with world.agent(agent_version=OLD, updates="pinned") as agent:
        await agent.hear(UpdateOffer)


async def test_updates_can_be_turned_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.runtime.settings.agent_updates = "off"
    monkeypatch.setattr(updates, "_offer", None)
    async with world.agent(agent_version=OLD, updates="pinned") as agent:
        # When the agent gets work, the server has already decided about the update.
        await create(world.client("ada"), await world.task())
        await agent.end(await agent.order())
        assert agent.closed is None


def test_a_wrong_setting_is_refused() -> None:
    for value in ("all", "off", "tag:canary"):
        updates.check_settings(Settings(agent_updates=value))
    for value in ("", "on", "tag:", "canary"):
        with pytest.raises(Invalid, match="BELVEDERE_AGENT_UPDATES"):
            updates.check_settings(Settings(agent_updates=value))


async def test_the_host_says_why_its_agent_was_not_updated(world: World, uma: Client) -> None:
    reason = "The signature of the offered version is not valid."
    async with world.agent(agent_version=OLD, update_error=reason):
        host = await host_of(uma)
        record = (await uma.get(f"/acme/host/{host['id']}")).json
        assert (host["update_error"], record["update_error"]) == (reason, reason)
        assert record["update_failed_since"] is not None
    async with world.agent():
        host = await host_of(uma)
        assert (host["update_error"], host["update_failed_since"]) == ("", None)


async def test_a_long_reason_is_cut(world: World, uma: Client) -> None:
    async with world.agent(update_error="x" * 5_000 + "\0"):
        assert len((await host_of(uma))["update_error"]) <= 256


async def test_another_organization_cannot_use_the_key_of_a_host(world: World, uma: Client) -> None:
    keys, ids = (
        world.runtime.keyring,
        [(await host_of(uma, name))["id"] for name in ("web-1", "web-2")],
    )
    first, second = (service.update_key(keys, host_id) for host_id in ids)
    assert first != second
    offer = UpdateOffer("9.9.9", "0" * 64, 5)
    offer.signature = signature.sign(second, ids[0], 1, offer)
    assert not signature.is_valid(first, ids[0], 1, offer)
