"""The agent's connection to the server: connect, run a session, reconnect."""

import asyncio
import json
import logging
import platform
import random
import ssl
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from belvedere import __version__
from belvedere.agent import messages
from belvedere.agent.connection.session import OutgoingSocket, RunningChecks, ServerSession
from belvedere.agent.connection.websocket import connect
from belvedere.agent.disk_space import DiskSpace
from belvedere.agent.file_cache import FileCache
from belvedere.agent.isolation import run_detached
from belvedere.agent.keeper_client import KeeperClient, KeeperFailed, connect_keeper
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.monitoring.sample_journal import SampleJournal
from belvedere.agent.monitoring.scheduler import CheckScheduler
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.agent.setup import enrolment
from belvedere.agent.setup.enrolment import Credential
from belvedere.agent.setup.settings import AgentSettings
from belvedere.agent.state_folder import StateFolder
from belvedere.agent.updates.transfer import AgentUpdates, UpdateReady
from belvedere.base.text import connection_errors
from belvedere.protocol import INLINE_LOG, Hello, JournaledAttempt, Reconnect, Refusal, Welcome

log = logging.getLogger("belvedere.agent")

FIRST_PAUSE_S, MAX_PAUSE_S = 0.2, 10.0
# The pause after the server rejected the credential.
REFUSED_PAUSE_S = 30.0
# A connection counts as stable after this time; before, the pauses between attempts keep growing.
STABLE_AFTER_S = 1.0
PING_EVERY_S, PING_TIMEOUT_S = 10.0, 20.0
HANDSHAKE_S = 15.0
# After a restart of the server all agents connect at once, and it lets them wait for their turn.
OPEN_S = 45.0
MAX_FRAME = 64 * 1024 * 1024
UNAUTHORIZED, FORBIDDEN = 4401, 4403
# The refusal of a Hello that is older than one the server has seen. Keepers from this protocol
# version on can then give their journal a new identity.
STALE_HELLO, CAN_RENEW = "4410", 5


class ServerConnection(OutgoingSocket, Protocol):
    """A connection to the server: websocket.py, or in_process.py inside the server's process."""

    @property
    def local_address(self) -> tuple[Any, ...]: ...

    async def recv(self) -> str | bytes: ...

    async def listen(self, hear: Callable[[Any], None]) -> None: ...


# Opens a connection to the server at this address.
Dial = Callable[[str], AbstractAsyncContextManager[ServerConnection]]


class AgentRefused(Exception):
    """The server rejected the credential of this agent."""


def network_dialer(
    settings: AgentSettings, credential: Credential, tls: ssl.SSLContext | None
) -> Dial:
    """Opens connections to a server over the network."""
    return lambda server: connect(
        server.replace("http", "ws", 1) + "/-/agent",
        additional_headers={"Authorization": f"Bearer {credential.token}"},
        user_agent_header=f"belvedere-agent/{__version__}",
        ssl=tls,
        # Output is compressed by the server's storage; here it would cost more than it saves.
        compression=None,
        max_size=MAX_FRAME,
        open_timeout=OPEN_S,
        close_timeout=1,
        ping_interval=PING_EVERY_S,
        ping_timeout=PING_TIMEOUT_S,
    )


class ServerLink:
    def __init__(
        self,
        settings: AgentSettings,
        folder: StateFolder,
        credential: Credential,
        dial: Dial,
        checks: Callable[[SampleBuffer, ScriptChecks], RunningChecks] = CheckScheduler,
        *,
        retries_refusals: bool = True,
        updates: AgentUpdates | None = None,
    ) -> None:
        self._updates = updates
        self._settings = settings
        self._retries_refusals = retries_refusals
        self._folder = folder
        self._credential = credential
        self._dial = dial
        # The address of this connection, and that of the next if the server named another one.
        self._server = settings.server
        self._next_server = ""
        self._cache = FileCache(folder.cache)
        self._failures = 0
        self._scripts = ScriptChecks(self._cache, settings.scripts_user)
        self._samples = SampleBuffer(journal=SampleJournal(folder.samples))
        self._checks = checks(self._samples, self._scripts)
        self._keeper: KeeperClient | None = None
        self._space = DiskSpace(
            (folder.root, folder.work), settings.min_free_bytes, settings.min_free_inodes
        )

    async def run(self) -> None:
        """Run until cancelled; call it once. KeeperFailed if the first keeper does not start;
        AgentRefused if the server rejects the credential and refusals are not retried."""
        try:
            await self._reconnect_loop(await self._attach())
        finally:
            self._checks.close()
            await self._checks.closed()
            self._samples.close()
            if self._keeper is not None:
                self._keeper.close()

    async def _reconnect_loop(self, keeper: KeeperClient) -> None:
        while True:
            try:
                if keeper.lost.is_set():
                    log.info("keeper ended; starting another")
                    await keeper.collect()
                    keeper = await self._attach()
                await self._run_connection(keeper)
            except UpdateReady:
                raise
            except AgentRefused as error:
                log.error("server rejected this agent reason=%s", error)
                if not self._retries_refusals:
                    raise
                await asyncio.sleep(REFUSED_PAUSE_S)
                continue
            except (OSError, InvalidHandshake, ConnectionClosed) as fault:
                log.warning(
                    "no connection to the server server=%s error=%s",
                    self._server,
                    _describe(fault),
                )
            except KeeperFailed as fault:
                log.error("keeper failed error=%s", fault)
            except Exception:
                # An unexpected message of the server must not end the agent.
                log.exception("connection failed; reconnecting")
            await asyncio.sleep(self._pause())

    async def _attach(self) -> KeeperClient:
        keeper = self._keeper = await connect_keeper(self._folder)
        self._scripts.attach(keeper)
        return keeper

    def _pause(self) -> float:
        """Full jitter: many agents that lost a server must not reconnect at the same time."""
        ceiling = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        return random.uniform(0, ceiling)

    def _reset_failures(self) -> None:
        self._failures = 0

    async def _run_connection(self, keeper: KeeperClient) -> None:
        """Run one connection from start to end."""
        try:
            self._server, self._next_server = self._next_server or self._settings.server, ""
            async with self._dial(self._server) as socket:
                session = self._session(keeper)
                try:
                    await self._run_session(socket, keeper, session)
                finally:
                    session.close()
        except InvalidStatus as error:
            if error.response.status_code in (401, 403):
                raise AgentRefused(_reason(error)) from None
            raise
        except ConnectionClosed as error:
            if error.rcvd is not None and error.rcvd.code in (UNAUTHORIZED, FORBIDDEN):
                raise AgentRefused(error.rcvd.reason or "The credential is invalid.") from None
            raise

    def _session(self, keeper: KeeperClient) -> ServerSession:
        folder = self._folder
        return ServerSession(
            keeper,
            self._cache,
            folder.spool,
            self._checks,
            self._samples,
            folder.files,
            self._settings.scripts_user,
            self._space,
            self._updates,
        )

    async def _run_session(
        self, socket: ServerConnection, keeper: KeeperClient, session: ServerSession
    ) -> None:
        keeper.listener = session.receive_from_keeper
        keeper.pause_listener = session.send_now
        keeper.send({"do": "hello", "owner": self._credential.host_id, "inline": INLINE_LOG})
        keeper.flush()
        async with asyncio.timeout(HANDSHAKE_S):
            state = await _unless_lost(session.state, keeper)
        if not state.get("is_saved", True):
            self._space.fail("The journal cannot be written.")
        self._scripts.keeper_version = state.get("version", 1)
        if _is_outdated(state):
            log.info("replacing keeper of another version version=%s", state["build"])
            keeper.send({"do": "retire"})
            keeper.flush()
            await asyncio.wait_for(keeper.lost.wait(), HANDSHAKE_S)
            return
        if state.get("is_saved", True):
            await run_detached(self._space.refresh)
        await socket.room()
        socket.send_messages([self._hello(socket, state)])
        async with asyncio.timeout(HANDSHAKE_S):
            frame = await socket.recv()
        # The server of the same process sends decoded messages.
        first, *others = frame if isinstance(frame, list) else json.loads(frame)
        welcome = messages.decode(first)
        if isinstance(welcome, Refusal):
            if welcome.code == STALE_HELLO:
                # The server has seen a later Hello of this journal: the journal was rolled back.
                log.warning("journal is older than the server's record; starting a new one")
                keeper.send({"do": "renew"})
                keeper.flush()
            raise _refusal_error(welcome)
        if not isinstance(welcome, Welcome):
            raise OSError("the server does not support the agent protocol")
        if self._updates is not None:
            self._updates.programs.confirm()
        session.open(welcome)
        session.receive_messages(others)
        log.info("agent connected server=%s host=%s", self._server, self._credential.hostname)
        stable_timer = asyncio.get_running_loop().call_later(STABLE_AFTER_S, self._reset_failures)
        try:
            await _until_one_ends(
                socket.listen(session.receive),
                session.send_loop(socket),
                session.send_heartbeats(welcome.beat_ms / 1_000),
                keeper.lost.wait(),
                self._until_reconnect(session),
                *((session.transfer.run(),) if session.transfer is not None else ()),
            )
        finally:
            stable_timer.cancel()
        if session.refusal is not None:
            raise _refusal_error(session.refusal)

    async def _until_reconnect(self, session: ServerSession) -> None:
        request = await session.until_reconnect()
        log.info("the server is stopping; connecting again server=%s", request.server or "same")
        self._next_server = _other_server(self._settings.server, request)
        # It was a success; the pause before the next connection is short.
        self._reset_failures()

    def _hello(self, socket: ServerConnection, state: dict[str, Any]) -> Hello:
        os_name, os_version = enrolment.operating_system()
        return Hello(
            hostname=self._settings.hostname,
            agent_version=__version__,
            fingerprint=enrolment.fingerprint(self._folder, self._settings.hostname),
            journal_id=state["journal_id"],
            boot_id=state["boot_id"],
            greeting=state.get("greeting", 0),
            is_saved=state.get("is_saved", True),
            highest=state["highest"],
            # Keepers of earlier versions do not name them.
            acknowledged=state.get("acknowledged", []),
            keeper_id=state.get("keeper_id", ""),
            renews=state["version"] >= CAN_RENEW,
            takes_changes=True,
            disk=self._space.message,
            updates=self._updates.readiness if self._updates is not None else "",
            update_error=self._updates.error if self._updates is not None else "",
            slots=self._settings.slots,
            entries=[
                JournaledAttempt(
                    entry["fence"],
                    "live" if entry["report"] is None else "ended",
                    entry.get("job_id", ""),
                )
                for entry in state["entries"]
            ],
            os_name=os_name,
            os_version=os_version,
            ip=str(socket.local_address[0]),
            moves=True,
            info={
                "containment": state["containment"],
                "highest_fence": state["highest"],
                "keeper": state["build"],
                "python": platform.python_version(),
                "machine": platform.machine(),
            },
        )


def _other_server(own: str, request: Reconnect) -> str:
    """The address that the server names, unless it is unusable or less secure than our own."""
    schemes = ("https://",) if own.startswith("https:") else ("https://", "http://")
    return request.server if request.server.startswith(schemes) else ""


def _refusal_error(refusal: Refusal) -> Exception:
    """Final, or temporary (the server is stopping, its database is unavailable)."""
    is_final = refusal.code in (str(UNAUTHORIZED), str(FORBIDDEN))
    return AgentRefused(refusal.message) if is_final else OSError(refusal.message)


def _is_outdated(state: dict[str, Any]) -> bool:
    """After an upgrade the keeper is replaced too, as soon as no script needs the old one."""
    return state["build"] != __version__ and all(entry["report"] for entry in state["entries"])


async def _unless_lost(
    state: asyncio.Future[dict[str, Any]], keeper: KeeperClient
) -> dict[str, Any]:
    lost = asyncio.create_task(keeper.lost.wait())
    either: set[asyncio.Future[Any]] = {state, lost}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    lost.cancel()
    if not state.done():
        raise KeeperFailed("The keeper ended; starting another.")
    return state.result()


async def _until_one_ends(*parts: Coroutine[Any, Any, Any]) -> None:
    """Run all; when the first one ends or fails, cancel the others."""
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _reason(error: InvalidStatus) -> str:
    try:
        return str(json.loads(error.response.body or b"")["message"])
    except (ValueError, KeyError, TypeError):
        return f"the server responded with status {error.response.status_code}"


def _describe(fault: BaseException) -> str:
    if isinstance(fault, ConnectionClosed) and fault.rcvd is not None and fault.rcvd.reason:
        # The reason of the server, not the text of the library.
        return fault.rcvd.reason
    return connection_errors.describe(fault) or str(fault) or type(fault).__name__
