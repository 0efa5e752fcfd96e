"""One session with the server, after Hello: passes messages between server and keeper."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol

from belvedere.agent import messages as agent_messages
from belvedere.agent.connection.job_log import JobLog
from belvedere.agent.connection.order_intake import OrderIntake
from belvedere.agent.disk_space import DISK_FULL, DiskSpace
from belvedere.agent.file_cache import FileCache
from belvedere.agent.isolation import run_detached
from belvedere.agent.json_lines import from_json
from belvedere.agent.keeper_client import KeeperClient
from belvedere.agent.monitoring.monitor_list import Checks, MonitorList
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.output import memory_buffer
from belvedere.agent.output.upload import OutputUpload
from belvedere.agent.updates.transfer import AgentUpdates, UpdateTransfer
from belvedere.base.failpoints import reach
from belvedere.protocol import (
    Ack,
    AttemptEnded,
    AttemptStarted,
    BlobMissing,
    Cancel,
    Credit,
    FromAgent,
    FromServer,
    Heartbeat,
    MonitorConfig,
    MonitorConfigRequest,
    Order,
    OutputAck,
    Reconnect,
    Refusal,
    SamplesAck,
    Stop,
    UpdateOffer,
    Welcome,
)

log = logging.getLogger("belvedere.agent")

# Results within this time are sent in one batch: after a change, and if nothing has changed. The
# server writes the results of one batch together, so that several of one monitor cost it little
# more than one.
SAMPLE_DELAY_S, UNCHANGED_SAMPLE_DELAY_S = 0.2, 3.0
# The server may ask for a later reconnect, but not for one that never comes.
MAX_RECONNECT_S = 60.0
# Characters of reports in one frame. JSON takes at most 12 bytes for one, and the server refuses
# messages of more than 4 MiB.
MAX_ENDS_SIZE = 128 * 1024
# Estimated size of a report without its texts, and of a name in one of its lists.
REPORT_SIZE, NAME_SIZE = 400, 250


class OutgoingSocket(Protocol):
    def has_room(self) -> bool: ...

    async def room(self) -> None: ...

    def send_messages(self, messages: Sequence[FromAgent]) -> None: ...

    def send(self, frame: bytes) -> None: ...


class RunningChecks(Checks, Protocol):
    """Checks that also run without a connection, until they are closed."""

    def close(self) -> None: ...

    async def closed(self) -> None: ...


class ServerSession:
    def __init__(
        self,
        keeper: KeeperClient,
        cache: FileCache,
        spool: str,
        checks: RunningChecks,
        samples: SampleBuffer,
        files: str = "",
        scripts_user: str = "",
        space: DiskSpace | None = None,
        updates: AgentUpdates | None = None,
    ) -> None:
        self._updates = updates
        # The update over this connection, once the session is open.
        self.transfer: UpdateTransfer | None = None
        self._keeper = keeper
        self._space = space or DiskSpace(())
        # The disk message that was last sent to the server.
        self._disk = self._space.message
        self._orders = OrderIntake(keeper, cache, self._send, scripts_user, self._space)
        self._streams = OutputUpload(spool, files)
        self._monitor_list = MonitorList(
            checks, lambda number: self._send(MonitorConfigRequest(number))
        )
        self._samples = samples
        # Samples of a short time are sent together.
        self._samples_timer: asyncio.TimerHandle | None = None
        self._outbox: list[FromAgent] = []
        self._socket: OutgoingSocket | None = None
        self._wake = asyncio.Event()
        self._number = 0
        # Fences that have not ended yet.
        self._live: set[int] = set()
        self._job_log = JobLog()
        self._unknown: set[str] = set()
        # Messages of the keeper between its state and the server's Welcome.
        self._early: list[dict[str, Any]] = []
        self.state: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.refusal: Refusal | None = None
        # Done when the server has asked the agent to connect again.
        self._reconnect: asyncio.Future[Reconnect] = self.state.get_loop().create_future()

    def receive_from_keeper(self, message: dict[str, Any]) -> None:
        """Messages before the keeper's state belong to an earlier session."""
        kind = message["say"]
        if kind == "state":
            # A second one answers an earlier Hello that timed out.
            if not self.state.done():
                self.state.set_result(message)
        elif self._number:
            self._handle_keeper_message(kind, message)
        elif self.state.done():
            self._early.append(message)

    def _handle_keeper_message(self, kind: str, message: dict[str, Any]) -> None:
        fence = message["fence"]
        if kind == "ended":
            self._live.discard(fence)
            self._job_log.ended(fence, message["report"])
            if message["report"].get("reason") == DISK_FULL:
                self._space.fail(message["report"]["message"])
                self._report_disk()
            self._streams.end(fence, agent_messages.report(message["report"]))
        elif kind == "output":
            self._hold(message)
            self._streams.grow(fence, message["total"])
        elif kind == "started":
            self._job_log.started(fence)
            self._outbox.append(AttemptStarted(fence, message["age_ms"]))
        elif kind == "gone":
            self._live.discard(fence)
            self._job_log.forget(fence)
            self._streams.drop(fence)

    def _hold(self, message: dict[str, Any]) -> None:
        """Output that the keeper could not write to disk; older keepers drop it."""
        if message.get("held"):
            self._streams.hold(message["fence"], memory_buffer.unpack(message["held"]))

    def open(self, welcome: Welcome) -> None:
        """Resume after the last connection, with everything that is not acknowledged."""
        self._number = welcome.session
        if self._updates is not None:
            self.transfer = UpdateTransfer(self._updates, welcome.session, self._send)
        self._orders.can_mask = self.state.result().get("version", 1) >= 2
        self._streams.credit = welcome.credit
        self._streams.takes_files = welcome.files
        self._keeper.send({"do": "open", "session": welcome.session})
        self._keeper.flush()
        for entry in self.state.result()["entries"]:
            self._resume(entry, welcome.resume.get(str(entry["fence"]), 0))
        self._samples.reopen()
        self._samples.listener = self._schedule_samples
        # After the state, which is older: an end that arrived since must not be lost.
        for message in self._early:
            self._handle_keeper_message(message["say"], message)
        self._wake.set()

    def _resume(self, entry: dict[str, Any], offset: int) -> None:
        fence: int = entry["fence"]
        self._streams.resume(fence, offset)
        self._hold(entry)
        self._job_log.resume(entry)
        if entry["report"] is not None:
            self._streams.end(fence, agent_messages.report(entry["report"]))
            return
        self._live.add(fence)
        self._streams.grow(fence, entry["total"])
        if entry["age_ms"] is not None:
            self._outbox.append(AttemptStarted(fence, entry["age_ms"]))

    def receive(self, frame: str | bytes | list[dict[str, Any]]) -> None:
        """One frame of the server: text, bytes or decoded messages."""
        if isinstance(frame, str):
            self.receive_messages(from_json(frame))
        elif isinstance(frame, bytes):
            self.receive_bytes(frame)
        else:
            self.receive_messages(frame)

    def receive_messages(self, messages: list[dict[str, Any]]) -> None:
        """Handle all messages of one frame."""
        for raw in messages:
            message = agent_messages.decode(raw)
            if message is None:
                self._note_unknown(str(raw.get("kind")))
            else:
                self._handle_server_message(message)
        self._keeper.flush()

    def _note_unknown(self, kind: str) -> None:
        if kind not in self._unknown:
            self._unknown.add(kind)
            log.warning("unknown message of the server ignored kind=%r", kind)

    def _handle_server_message(self, message: FromServer) -> None:
        match message:
            case Order():
                reach("agent.order_received")
                if message.session == self._number and message.fence not in self._live:
                    self._live.add(message.fence)
                    self._job_log.order(message)
                    self._orders.order(message)
                    self._report_disk()
            case Ack():
                self._ack(message.fences)
            case OutputAck(fence, offset):
                if self._streams.keep(fence, offset):
                    self._keeper.send({"do": "kept", "fence": fence, "offset": offset})
            case Credit():
                self._streams.credit += message.bytes
                self._wake.set()
            case Cancel(fence):
                if not self._orders.cancel(fence):
                    self._keeper.send({"do": "cancel", "fence": fence})
            case Stop(fence):
                if self._orders.forget(fence):
                    self._live.discard(fence)
                    self._job_log.forget(fence)
                else:
                    self._keeper.send({"do": "stop", "fence": fence})
            case BlobMissing(sha256):
                self._orders.fail(sha256, "The server does not have the file.")
                if self.transfer is not None:
                    self.transfer.miss(sha256)
            case UpdateOffer():
                if self.transfer is not None:
                    self.transfer.take(message)
            case MonitorConfig():
                self._monitor_list.take(message)
            case SamplesAck(stream, number):
                self._samples.acknowledge(stream, number)
                self._wake.set()
            case Refusal():
                self.refusal = message
            case Reconnect():
                if not self._reconnect.done():
                    self._reconnect.set_result(message)
            case Welcome():
                pass

    async def until_reconnect(self) -> Reconnect:
        """The request of the server to connect again, once it is due."""
        request = await self._reconnect
        await asyncio.sleep(min(request.after_ms / 1_000, MAX_RECONNECT_S))
        return request

    def _ack(self, fences: list[int]) -> None:
        reach("agent.acked")
        for fence in fences:
            self._streams.drop(fence)
        self._keeper.send({"do": "ack", "fences": fences})

    def receive_bytes(self, frame: bytes) -> None:
        if self.transfer is None or not self.transfer.feed(frame):
            self._orders.feed(frame)
        self._keeper.flush()

    def _send(self, message: FromAgent) -> None:
        self._outbox.append(message)
        self._wake.set()

    def _schedule_samples(self, is_changed: bool) -> None:
        loop = asyncio.get_running_loop()
        due_at = loop.time() + (SAMPLE_DELAY_S if is_changed else UNCHANGED_SAMPLE_DELAY_S)
        if self._samples_timer is not None:
            if self._samples_timer.when() <= due_at:
                return
            self._samples_timer.cancel()
        self._samples_timer = loop.call_at(due_at, self._flush_samples)

    def _flush_samples(self) -> None:
        self._samples_timer = None
        self._wake.set()

    async def send_heartbeats(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await run_detached(self._space.refresh)
            if not self._space.message and not self.state.result().get("is_saved", True):
                raise OSError("the journal can be written again; reconnecting with a new hello")
            self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        self._disk = self._space.message
        self._send(Heartbeat(sorted(self._live), self._monitor_list.number, self._disk))

    def _report_disk(self) -> None:
        """Report at once, before a refused order is returned: it must not be sent again."""
        if self._disk != self._space.message:
            self._send_heartbeat()

    async def send_loop(self, socket: OutgoingSocket) -> None:
        """Send all waiting messages in one frame, in turns with output, so that much output does
        not delay the ends of other jobs."""
        self._socket = socket
        while True:
            await self._wake.wait()
            self._wake.clear()
            await socket.room()
            while self._send_next(socket):
                await socket.room()

    def send_now(self) -> None:
        """Send messages of the keeper at once if possible: a single end need not wake a task."""
        socket = self._socket
        if socket is None or not socket.has_room() or self._send_next(socket):
            self._wake.set()

    def _send_next(self, socket: OutgoingSocket) -> bool:
        """Send the next messages and frame; True if there may be more. Everything that is taken
        from a queue is sent here, so the next call continues after it."""
        frame = self._streams.next()
        has_ends = isinstance(frame, AttemptEnded)
        size = 0
        while isinstance(frame, AttemptEnded):
            self._outbox.append(frame)
            size += _size(frame)
            frame = self._streams.next() if size < MAX_ENDS_SIZE else None
        while self._samples_timer is None and (batch := self._samples.next()) is not None:
            self._outbox.append(batch)
        messages, self._outbox = self._outbox, []
        if messages:
            socket.send_messages(messages)
            if has_ends:
                reach("agent.reported")
        if frame is not None:
            socket.send(frame)
        return frame is not None or size >= MAX_ENDS_SIZE

    def close(self) -> None:
        """Orders that still wait were never accepted; the next Hello shows that to the server."""
        self._keeper.listener = self._keeper.pause_listener = None
        self._samples.listener = None
        if self._samples_timer is not None:
            self._samples_timer.cancel()
        self._orders.close()


def _size(ended: AttemptEnded) -> int:
    """The approximate number of characters of a report."""
    report = ended.report
    named = len(report.files) + len(report.files_skipped) + len(report.survivors)
    texts = len(report.log or "") + len(report.lastline) + len(report.message)
    return REPORT_SIZE + texts + named * NAME_SIZE
