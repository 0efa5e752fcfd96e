"""The endpoint for agents: `/-/agent`, a WebSocket that needs an agent's credential."""

import asyncio
import contextlib
import logging
import struct
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from belvedere import hosts
from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Conflict, Refused, TooMany, Unavailable
from belvedere.jobs.lifecycle import claim
from belvedere.protocol import FromServer, Hello, Refusal
from belvedere.rest.request import Receive, Scope, Send
from belvedere.server.agents import queries, updates
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.agents.message_limits import CloseConnection, messages_in
from belvedere.server.http import authentication
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.interface import OnEnd

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

    @property
    def is_gone(self) -> bool: ...

    def send_now(self, messages: list[FromServer], /) -> bool: ...

    def deliver_to(
        self,
        handler: Callable[[str | bytes], None] | None,
        skip: Callable[[bytes], bool] | None = None,
        /,
    ) -> None: ...

    def keep(self, on_end: OnEnd, /) -> bool: ...

    def end(self, fault: Exception | None, /) -> None: ...


async def serve(app: AgentApp, scope: Scope, receive: Receive, send: Send) -> None:
    """One connection, from handshake to close. What only the handshake needs is freed: a server
    has thousands of connections."""
    await receive()
    if scope["raw_path"] != PATH:
        await send({"type": "websocket.close", "code": 4404})
        return
    try:
        connection = await _open(app, scope, receive, send)
    except Exception as fault:
        # The connection is not accepted yet: the handshake itself is refused.
        await _close(send, *_reason(fault))
        return
    if connection is not None:
        _begin(connection)
        await _run_connection(connection, _socket(scope), receive, send)


async def _open(
    app: AgentApp, scope: Scope, receive: Receive, send: Send
) -> AgentConnection | None:
    """Accept the connection and open its session; None if it ended before that."""
    app.runtime.check_admission()
    actor = await _authenticate(app, scope)
    # Not needed any more: it would stay in memory as long as the connection.
    scope["headers"] = []
    handshakes = app.runtime.handshakes
    with handshakes.before_hello(actor.host_id):
        async with handshakes.admission(actor.customer_id) as note_hello:
            await send({"type": "websocket.accept"})
            try:
                # Not wait_for, which starts a task.
                async with asyncio.timeout(HELLO_S):
                    frame = await _frame(receive)
                note_hello()
                if frame is None:
                    return None
                return await _greet(app.runtime, _socket(scope), frame, send, actor)
            except Exception as fault:
                await _refuse(send, *_reason(fault))
                return None


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


def _socket(scope: Scope) -> DirectSocket | None:
    socket: DirectSocket | None = scope.get("extensions", {}).get("agent_socket")
    return socket


async def _greet(
    runtime: ServerRuntime,
    socket: DirectSocket | None,
    frame: str | bytes,
    send: Send,
    actor: Actor,
) -> AgentConnection | None:
    """Open the session of a hello; None if the agent disconnected."""
    send_now = None if socket is None else socket.send_now
    connection = AgentConnection(runtime, actor, send, send_now)
    first = messages_in(frame)
    if not first:
        raise CloseConnection(4400, "The first message must be the hello.")
    hello = msgspec.convert(first[0], Hello)
    runtime.handshakes.check_rate(connection.host_id)
    runtime.check_admission()
    if not runtime.db.dialect.is_shared:
        # On PostgreSQL each session has a transaction of its own: the hello would wait for nothing.
        await runtime.handshakes.group()
    async with runtime.handshakes.opening:
        if socket is not None and socket.is_gone:
            # It waited too long and has connected again: this session would delay the others.
            return None
        await _record_accepted(runtime, connection.host_id)
        await connection.open_session(hello)
    # In the same iteration of the event loop: no order is claimed for an older connection.
    runtime.agents.add(connection)
    updates.consider(connection, hello)
    return connection


def _begin(connection: AgentConnection) -> None:
    runtime = connection.runtime
    # The hello counts as a heartbeat, so that the host is not silent before the first one.
    connection.note_heard()
    # After the welcome, which the next iteration of the event loop sends.
    if connection.has_monitors:
        connection.monitor_sync.on_signal()
    runtime.db.write_batched(claim.signal_hosts, connection.host_id)
    log.info("agent connected host=%s session=%s", connection.host_id, connection.session)


async def _run_connection(
    connection: AgentConnection, socket: DirectSocket | None, receive: Receive, send: Send
) -> None:
    """Handle what the agent sends until the connection ends; without a task if the socket can."""
    if socket is not None:
        socket.deliver_to(connection.receive, connection.skip)
        if socket.keep(partial(_finish, connection, send)):
            connection.on_end = socket.end
            return
    fault: Exception | None = None
    try:
        await _read(connection, receive)
        fault = connection.fault
    except Exception as error:
        fault = error
    finally:
        if socket is not None:
            socket.deliver_to(None)
        await _finish(connection, send, fault)


async def _finish(connection: AgentConnection, send: Send, fault: Exception | None) -> None:
    """The connection has ended, for this reason if there is one."""
    try:
        await _close_session(connection)
        if fault is not None:
            raise fault
    except Exception as error:
        await _refuse(send, *_reason(error))


async def _close_session(connection: AgentConnection) -> None:
    runtime = connection.runtime
    connection.is_closing = True
    connection.cancel_tasks()
    if runtime.agents.remove(connection):
        await runtime.db.write(
            queries.close_session, connection.host_id, connection.session, connection.accepted
        )
    log.info("agent disconnected host=%s session=%s", connection.host_id, connection.session)


async def _record_accepted(runtime: ServerRuntime, host_id: str) -> None:
    """Record the accepted fences of an older connection of the agent that has not ended yet, before
    its next hello is read."""
    older = runtime.agents.for_host(host_id)
    if older is not None and older.accepted > older.accepted_recorded:
        older.accepted_recorded = older.accepted
        await runtime.db.write(hosts.note_accepted, [(host_id, older.session, older.accepted)])


async def _read(connection: AgentConnection, receive: Receive) -> None:
    """Handle frames until the agent disconnects or `connection.end` is called. A deadline that is
    set then interrupts the read."""
    try:
        async with asyncio.timeout(None) as reading:
            connection.on_end = partial(_interrupt, reading)
            # Frames that the socket does not deliver directly.
            while (frame := await _frame(receive)) is not None:
                connection.receive(frame)
    except TimeoutError:
        if not reading.expired():
            raise


def _interrupt(reading: asyncio.Timeout, _: Exception | None) -> None:
    # The agent may have disconnected in the same iteration of the event loop.
    with contextlib.suppress(RuntimeError):
        reading.reschedule(0.0)


async def _frame(receive: Receive) -> str | bytes | None:
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    text: str | None = message.get("text")
    return text if text is not None else message["bytes"]
