"""The door for agents: `/-/agent`, a WebSocket that only an agent's credential opens."""

import asyncio
import contextlib
import logging
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from belvedere import hosts
from belvedere.access.model import Actor, Level
from belvedere.base.errors import Conflict, Refused, Unavailable
from belvedere.jobs import queue
from belvedere.protocol import Hello, Refusal
from belvedere.server import auth
from belvedere.server.link import Goodbye, Link, messages_in

log = logging.getLogger("belvedere.agents")
PATH = b"/-/agent"
# The hello must come soon: a connection that says nothing holds nothing.
HELLO_S = 15.0
# Three missed beats.
SILENCE_S = 30.0


async def serve(app: Any, scope: Any, receive: Any, send: Any) -> None:
    """One connection, from handshake to close."""
    await receive()
    if scope["raw_path"] != PATH:
        await send({"type": "websocket.close", "code": 4404})
        return
    await send({"type": "websocket.accept"})
    try:
        await _talk(app, scope, receive, send)
    except Goodbye as goodbye:
        await _close(send, goodbye.code, goodbye.reason)
    except Unavailable as away:
        await _close(send, 4503, away.message)
    except Conflict as refusal:
        # Not now: another agent holds the host, or this Hello came behind a later one.
        await _close(send, 4409, refusal.message)
    except Refused as refusal:
        await _close(send, 4401, refusal.message)
    except (msgspec.DecodeError, msgspec.ValidationError, struct.error) as fault:
        await _close(send, 4400, f"A message could not be read: {fault}")
    except TimeoutError:
        await _close(send, 4408, "The agent was silent for too long; come back.")
    except OSError:
        # It hung up while we spoke; what it did not hear, it will hear again.
        log.debug("an agent hung up")
    except Exception:
        # Our own fault: told to the log. What the agent said last, it will say again.
        log.exception("the link of an agent failed")
        await _close(send, 1011, "the server stumbled; come back")


async def _close(send: Any, code: int, reason: str) -> None:
    # The socket may be gone already; then nobody needs the reason.
    with contextlib.suppress(Exception):
        refusal = msgspec.json.encode([Refusal(str(code), reason)]).decode()
        await send({"type": "websocket.send", "text": refusal})
        await send({"type": "websocket.close", "code": code, "reason": reason[:100]})


async def _actor(app: Any, scope: Any) -> Actor:
    headers = dict(scope["headers"])
    token = auth.bearer(headers)
    if token is None or b"origin" in headers:
        raise Goodbye(4401, "Agents send Authorization: Bearer <agent token>.")
    actor: Actor = await app.house.credentials.actor(token, app.house.clock())
    if actor.level is not Level.AGENT:
        raise Goodbye(4403, "Only an agent's credential opens this door; enrol the host first.")
    return msgspec.structs.replace(actor, address=app.address(scope, headers))


async def _talk(app: Any, scope: Any, receive: Any, send: Any) -> None:
    house = app.house
    wire = scope.get("extensions", {}).get("wire")
    say = None if wire is None else wire.say
    link = Link(house, await _actor(app, scope), send, say)
    frame = await asyncio.wait_for(_frame(receive), HELLO_S)
    if frame is None:
        return
    first = messages_in(frame)
    if not first:
        raise Goodbye(4400, "The first message is the hello.")
    await link.greet(msgspec.convert(first[0], Hello))
    house.links.add(link)
    undo = house.hub.listen(f"cancel:{link.host_id}", link.rung)
    undo_watch = house.hub.listen(f"watch:{link.host_id}", link.watcher.rung)
    take = partial(_take, house, link)
    parts = {
        asyncio.create_task(part)
        for part in (link.send_loop(), _read(take, receive), _mind_silence(link))
    }
    if wire is not None:
        wire.hand_to(take)
    house.db.join(queue.wake, link.host_id)
    log.info("agent of host %s connected (session %s)", link.host_id, link.session)
    try:
        done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        if wire is not None:
            wire.hand_to(None)
        undo()
        undo_watch()
        for task in parts:
            task.cancel()
        link.is_closing = True
        link.end()
        if house.links.remove(link):
            await house.db.write(hosts.disconnected, link.host_id, link.session)
        log.info("agent of host %s left (session %s)", link.host_id, link.session)


def _take(house: Any, link: Link, frame: str | bytes) -> None:
    link.heard_at = asyncio.get_running_loop().time()
    house.links.note_seen(link, house.clock())
    link.receive(frame)


async def _read(take: Callable[[str | bytes], None], receive: Any) -> None:
    """What the wire does not hand over by itself, and its end."""
    while (frame := await _frame(receive)) is not None:
        take(frame)


async def _mind_silence(link: Link) -> None:
    """One look per silence instead of a timer for every frame."""
    loop = asyncio.get_running_loop()
    link.heard_at = loop.time()
    while (left := link.heard_at + SILENCE_S - loop.time()) > 0:
        await asyncio.sleep(left)
    raise TimeoutError


async def _frame(receive: Any) -> str | bytes | None:
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    text: str | None = message.get("text")
    return text if text is not None else message["bytes"]
