"""The endpoint for agents: `/-/agent`, a WebSocket that needs an agent's credential."""

import asyncio
import contextlib
import logging
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import msgspec

from belvedere import hosts
from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Conflict, Refused, TooMany, Unavailable
from belvedere.db.signals import checks_changed, jobs_canceled
from belvedere.jobs.lifecycle import claim
from belvedere.protocol import FromServer, Hello, Refusal
from belvedere.rest.request import Receive, Scope, Send
from belvedere.server.agents import queries, updates
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.agents.message_limits import CloseConnection, messages_in
from belvedere.server.http import authentication
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agents")
PATH = b"/-/agent"
# The handshake is answered within this time, however slow the database is.
HANDSHAKE_S = 10.0
# The hello must arrive within this time.
HELLO_S = 15.0
# The refusal before a close is skipped when the agent does not read it within this time.
REFUSAL_S = 1.0


class AgentApp(Protocol):
    """What the endpoint uses of the application."""

    @property
    def runtime(self) -> ServerRuntime: ...

    def address(self, scope: Scope, headers: dict[bytes, bytes], /) -> str: ...


class DirectSocket(Protocol):
    """A socket that also sends and delivers frames without ASGI."""

    def send_now(self, messages: list[FromServer], /) -> bool: ...

    def deliver_to(self, handler: Callable[[str | bytes], None] | None, /) -> None: ...


async def serve(app: AgentApp, scope: Scope, receive: Receive, send: Send) -> None:
    """One connection, from handshake to close."""
    await receive()
    if scope["raw_path"] != PATH:
        await send({"type": "websocket.close", "code": 4404})
        return
    handshakes = app.runtime.handshakes
    try:
        _check_admission(app.runtime)
        actor = await _authenticate(app, scope)
        # Not needed any more: it would stay in memory as long as the connection.
        scope["headers"] = []
        with handshakes.before_hello(actor.host_id) as release:
            async with handshakes.admission() as leave:
                await send({"type": "websocket.accept"})
                await _serve(app, scope, receive, send, actor, (release, leave))
    except Exception as fault:
        # The connection is not accepted yet: the handshake itself is refused.
        await _close(send, *_reason(fault))


async def _serve(
    app: AgentApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    actor: Actor,
    on_hello: Sequence[Callable[[], None]],
) -> None:
    try:
        await _run_connection(app, scope, receive, send, actor, on_hello)
    except Exception as fault:
        await _refuse(send, *_reason(fault))


def _reason(fault: Exception) -> tuple[int, str]:
    """The close code and the text for the agent."""
    match fault:
        case CloseConnection():
            return fault.code, fault.reason
        case Unavailable():
            return 4503, fault.message
        case TooMany():
            return 4429, fault.message
        case Conflict(code="stale_hello"):
            return 4410, fault.message
        case Conflict():
            # Another agent is connected as this host.
            return 4409, fault.message
        case Refused():
            return 4401, fault.message
        case msgspec.DecodeError() | struct.error() | RecursionError():
            return 4400, f"A message could not be read: {fault}"
        case TimeoutError():
            return 4408, "No message from the agent for too long; reconnect."
        case OSError():
            # The agent disconnected during a write; it gets the same messages again.
            log.debug("agent disconnected")
            return 1000, ""
    # A fault of the server. The agent repeats its last messages when it reconnects.
    log.error("agent connection failed", exc_info=fault)
    return 1011, "internal error; reconnect"


async def _refuse(send: Send, code: int, reason: str) -> None:
    # The socket may be closed already; then nobody reads the reason.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(REFUSAL_S):
            refusal = msgspec.json.encode([Refusal(str(code), reason)]).decode()
            await send({"type": "websocket.send", "text": refusal})
    await _close(send, code, reason)


async def _close(send: Send, code: int, reason: str) -> None:
    with contextlib.suppress(Exception):
        await send({"type": "websocket.close", "code": code, "reason": reason[:100]})


def _check_admission(runtime: ServerRuntime) -> None:
    if runtime.drain.refuses_agents:
        raise Unavailable("This server is stopping; connect again.")
    if not runtime.admits_agents:
        raise Unavailable("Another database server took over; connect again.")


async def _authenticate(app: AgentApp, scope: Scope) -> Actor:
    """The host of the connection, before the handshake is answered."""
    headers = dict(scope["headers"])
    address = app.address(scope, headers)
    with app.runtime.handshakes.unauthenticated(address):
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                actor = await _actor(app, headers)
        except TimeoutError:
            raise Unavailable("The server is busy; try again in a moment.") from None
    return msgspec.structs.replace(actor, address=address)


async def _actor(app: AgentApp, headers: dict[bytes, bytes]) -> Actor:
    token = authentication.bearer(headers)
    if token is None or b"origin" in headers:
        raise CloseConnection(4401, "Agents send Authorization: Bearer <agent token>.")
    actor = await app.runtime.credentials.actor(token, app.runtime.clock())
    if actor.level is not Level.AGENT:
        raise CloseConnection(
            4403, "This endpoint needs an agent's credential; enrol the host first."
        )
    return actor


async def _run_connection(
    app: AgentApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    actor: Actor,
    on_hello: Sequence[Callable[[], None]],
) -> None:
    runtime = app.runtime
    socket: DirectSocket | None = scope.get("extensions", {}).get("agent_socket")
    send_now = None if socket is None else socket.send_now
    connection = AgentConnection(runtime, actor, send, send_now)
    frame = await asyncio.wait_for(_frame(receive), HELLO_S)
    if frame is None:
        return
    first = messages_in(frame)
    if not first:
        raise CloseConnection(4400, "The first message must be the hello.")
    hello = msgspec.convert(first[0], Hello)
    runtime.handshakes.check_rate(connection.host_id)
    _check_admission(runtime)
    async with runtime.handshakes.opening:
        await _record_accepted(runtime, connection.host_id)
        await connection.open_session(hello)
    for call in on_hello:
        call()
    runtime.agents.add(connection)
    # The hello counts as a heartbeat, so that the host is not silent before the first one.
    connection.note_heard()
    undo = runtime.signals.subscribe(jobs_canceled(connection.host_id), connection.on_signal)
    undo_watch = runtime.signals.subscribe(
        checks_changed(connection.host_id), connection.monitor_sync.on_signal
    )
    handle = partial(_handle_frame, connection)
    reading = asyncio.create_task(_read(handle, receive))
    reading.add_done_callback(partial(_on_read, connection))
    if socket is not None:
        socket.deliver_to(handle)
    # After the welcome, which the next iteration of the event loop sends.
    connection.monitor_sync.on_signal()
    updates.consider(connection, hello)
    runtime.db.write_batched(claim.signal_hosts, connection.host_id)
    log.info("agent connected host=%s session=%s", connection.host_id, connection.session)
    try:
        await connection.ended
        if connection.fault is not None:
            raise connection.fault
    finally:
        if socket is not None:
            socket.deliver_to(None)
        undo()
        undo_watch()
        reading.cancel()
        connection.is_closing = True
        connection.cancel_tasks()
        if runtime.agents.remove(connection):
            await runtime.db.write(
                queries.close_session, connection.host_id, connection.session, connection.accepted
            )
        log.info("agent disconnected host=%s session=%s", connection.host_id, connection.session)


async def _record_accepted(runtime: ServerRuntime, host_id: str) -> None:
    """Of an older connection of the agent that has not ended yet, before its next hello is read."""
    older = runtime.agents.for_host(host_id)
    if older is not None and older.accepted > older.accepted_recorded:
        older.accepted_recorded = older.accepted
        await runtime.db.write(hosts.note_accepted, [(host_id, older.session, older.accepted)])


def _handle_frame(connection: AgentConnection, frame: str | bytes) -> None:
    connection.note_heard()
    connection.receive(frame)


async def _read(handle: Callable[[str | bytes], None], receive: Receive) -> None:
    """Frames that the socket does not deliver directly, until the connection ends."""
    while (frame := await _frame(receive)) is not None:
        handle(frame)


def _on_read(connection: AgentConnection, reading: "asyncio.Task[None]") -> None:
    if not reading.cancelled():
        fault = reading.exception()
        connection.end(fault if isinstance(fault, Exception) else None)


async def _frame(receive: Receive) -> str | bytes | None:
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    text: str | None = message.get("text")
    return text if text is not None else message["bytes"]
