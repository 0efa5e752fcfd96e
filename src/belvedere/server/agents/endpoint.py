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
from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Conflict, Refused, TooMany, Unavailable
from belvedere.db.signals import checks_changed, jobs_canceled
from belvedere.jobs.lifecycle import claim
from belvedere.protocol import Hello, Refusal
from belvedere.server.agents.close_reasons import Goodbye
from belvedere.server.agents.connection import Link, messages_in
from belvedere.server.http import authentication

log = logging.getLogger("belvedere.agents")
PATH = b"/-/agent"
# An answer to the handshake takes no longer than this, whatever the database does.
HANDSHAKE_S = 10.0
# The hello must come soon: a connection that says nothing holds nothing.
HELLO_S = 15.0
# Three missed beats.
SILENCE_S = 30.0
# The words before a close are left out when the agent does not take them within this time.
REFUSAL_S = 1.0


async def serve(app: Any, scope: Any, receive: Any, send: Any) -> None:
    """One connection, from handshake to close."""
    await receive()
    if scope["raw_path"] != PATH:
        await send({"type": "websocket.close", "code": 4404})
        return
    handshakes = app.runtime.handshakes
    try:
        actor = await _admitted(app, scope)
        with handshakes.before_hello(actor.host_id) as said_hello:
            await send({"type": "websocket.accept"})
            await _serve(app, scope, receive, send, actor, said_hello)
    except Exception as fault:
        # Nothing is accepted yet: the handshake itself is refused.
        await _close(send, *_reason(fault))


async def _serve(
    app: Any, scope: Any, receive: Any, send: Any, actor: Actor, said_hello: Callable[[], None]
) -> None:
    try:
        await _talk(app, scope, receive, send, actor, said_hello)
    except Exception as fault:
        await _farewell(send, *_reason(fault))


def _reason(fault: Exception) -> tuple[int, str]:
    """The code and the words for the agent."""
    match fault:
        case Goodbye():
            return fault.code, fault.reason
        case Unavailable():
            return 4503, fault.message
        case TooMany():
            return 4429, fault.message
        case Conflict(code="stale_hello"):
            return 4410, fault.message
        case Conflict():
            # Not now: another agent holds the host.
            return 4409, fault.message
        case Refused():
            return 4401, fault.message
        case msgspec.DecodeError() | struct.error() | RecursionError():
            return 4400, f"A message could not be read: {fault}"
        case TimeoutError():
            return 4408, "The agent was silent for too long; come back."
        case OSError():
            # It hung up while we spoke; what it did not hear, it will hear again.
            log.debug("an agent hung up")
            return 1000, ""
    # Our own fault: told to the log. What the agent said last, it will say again.
    log.error("the link of an agent failed", exc_info=fault)
    return 1011, "the server stumbled; come back"


async def _farewell(send: Any, code: int, reason: str) -> None:
    # The socket may be gone already; then nobody needs the reason.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(REFUSAL_S):
            refusal = msgspec.json.encode([Refusal(str(code), reason)]).decode()
            await send({"type": "websocket.send", "text": refusal})
    await _close(send, code, reason)


async def _close(send: Any, code: int, reason: str) -> None:
    with contextlib.suppress(Exception):
        await send({"type": "websocket.close", "code": code, "reason": reason[:100]})


async def _admitted(app: Any, scope: Any) -> Actor:
    """Whose connection this is, decided before the handshake is answered."""
    headers = dict(scope["headers"])
    address = app.address(scope, headers)
    with app.runtime.handshakes.unauthenticated(address):
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                actor = await _actor(app, headers)
        except TimeoutError:
            raise Unavailable("The server is busy; come back in a moment.") from None
    return msgspec.structs.replace(actor, address=address)


async def _actor(app: Any, headers: dict[bytes, bytes]) -> Actor:
    token = authentication.bearer(headers)
    if token is None or b"origin" in headers:
        raise Goodbye(4401, "Agents send Authorization: Bearer <agent token>.")
    actor: Actor = await app.runtime.credentials.actor(token, app.runtime.clock())
    if actor.level is not Level.AGENT:
        raise Goodbye(4403, "Only an agent's credential opens this door; enrol the host first.")
    return actor


async def _talk(
    app: Any, scope: Any, receive: Any, send: Any, actor: Actor, said_hello: Callable[[], None]
) -> None:
    runtime = app.runtime
    wire = scope.get("extensions", {}).get("wire")
    say = None if wire is None else wire.say
    link = Link(runtime, actor, send, say)
    frame = await asyncio.wait_for(_frame(receive), HELLO_S)
    if frame is None:
        return
    first = messages_in(frame)
    if not first:
        raise Goodbye(4400, "The first message is the hello.")
    hello = msgspec.convert(first[0], Hello)
    runtime.handshakes.check_rate(link.host_id)
    if not runtime.admits_agents:
        raise Unavailable("Another database server took over; connect again.")
    await link.greet(hello)
    said_hello()
    runtime.agents.add(link)
    # The hello counts as a heartbeat: until the first one the host must not look silent.
    runtime.agents.note_seen(link, runtime.clock())
    undo = runtime.signals.subscribe(jobs_canceled(link.host_id), link.rung)
    undo_watch = runtime.signals.subscribe(checks_changed(link.host_id), link.watcher.rung)
    take = partial(_take, runtime, link)
    parts = {
        asyncio.create_task(part)
        for part in (link.send_loop(), _read(take, receive), _mind_silence(link))
    }
    if wire is not None:
        wire.hand_to(take)
    # Behind the welcome, which the first task is about to send.
    link.watcher.rung()
    runtime.db.write_batched(claim.wake, link.host_id)
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
        if runtime.agents.remove(link):
            await runtime.db.write(hosts.disconnected, link.host_id, link.session)
        log.info("agent of host %s left (session %s)", link.host_id, link.session)


def _take(runtime: Any, link: Link, frame: str | bytes) -> None:
    link.heard_at = asyncio.get_running_loop().time()
    runtime.agents.note_seen(link, runtime.clock())
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
