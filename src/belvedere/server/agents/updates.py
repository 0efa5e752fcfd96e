"""Offers agents the server's own version of their program, a few at a time."""

import asyncio
import logging

import msgspec

from belvedere import __version__
from belvedere.agent.updates import signature
from belvedere.base.errors import Invalid
from belvedere.base.text.versions import parse
from belvedere.db import Tx
from belvedere.hosts import service
from belvedere.protocol import Hello, UpdateOffer
from belvedere.server.agents import package
from belvedere.server.agents.connection import AgentConnection
from belvedere.settings import Settings

log = logging.getLogger("belvedere.agents")
ALL, OFF, TAG = "all", "off", "tag:"
# After an upgrade of the server all agents are outdated: this many are updated in each interval.
AT_ONCE, INTERVAL_S = 20, 2.0
decode_tags = msgspec.json.Decoder(list[str]).decode


class UpdatePace:
    """Limits how many agents of this server are updated at the same time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)

    async def wait(self) -> None:
        await self._free.acquire()
        asyncio.get_running_loop().call_later(INTERVAL_S, self._free.release)


def check_settings(settings: Settings) -> None:
    value = settings.agent_updates
    if value not in (ALL, OFF) and not (value.startswith(TAG) and value != TAG):
        raise Invalid(f"BELVEDERE_AGENT_UPDATES must be all, off or tag:NAME, not {value!r}.")


def consider(connection: AgentConnection, hello: Hello) -> None:
    """Offer this version to an agent that has another one and accepts updates."""
    settings = connection.runtime.settings
    if settings.agent_updates != OFF and _is_wanted(hello, settings):
        connection.spawn(_offer(connection, hello))


def _is_wanted(hello: Hello, settings: Settings) -> bool:
    own, other = parse(__version__), parse(hello.agent_version)
    if hello.updates not in ("pinned", "unpinned") or own is None or other is None:
        return False
    return other < own or (other > own and settings.agent_downgrades)


async def _offer(connection: AgentConnection, hello: Hello) -> None:
    runtime, host_id = connection.runtime, connection.host_id
    if not await runtime.db.read(_is_selected, host_id, runtime.settings.agent_updates):
        return
    await runtime.of(UpdatePace).wait()
    sha256 = await asyncio.to_thread(package.digest)
    key = service.update_key(runtime.keyring, host_id)
    is_downgrade = (parse(hello.agent_version) or ()) > (parse(__version__) or ())
    offer = UpdateOffer(__version__, sha256, len(package.archive()), is_downgrade)
    offer.signature = signature.sign(key, host_id, connection.session, offer)
    offer.key = key if hello.updates == "unpinned" else ""
    connection.push(offer)
    log.info("update offered host=%s from=%.40s to=%s", host_id, hello.agent_version, __version__)


def _is_selected(tx: Tx, host_id: str, setting: str) -> bool:
    tags = tx.value("select tags from hosts where id = ? and deleted_at is null", host_id)
    is_known = tags is not None
    return is_known and (setting == ALL or setting.removeprefix(TAG) in decode_tags(tags))
