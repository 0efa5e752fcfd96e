"""The connection with one agent, from its hello to the close."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.db.signals import Signal
from belvedere.hosts import presence
from belvedere.jobs.lifecycle import finish
from belvedere.jobs.lifecycle.verdict import is_returned
from belvedere.jobs.output import artifacts, log_store
from belvedere.jobs.recovery import resync
from belvedere.protocol import (
    VERSION,
    Ack,
    AttemptEnded,
    AttemptStarted,
    BlobRequest,
    Cancel,
    FromServer,
    Heartbeat,
    Hello,
    MonitorConfigRequest,
    Order,
    Samples,
    Stop,
    Welcome,
)
from belvedere.rest.request import Send
from belvedere.server.agents import message_limits, queries
from belvedere.server.agents.message_limits import CloseConnection, check_numbers, messages_in
from belvedere.server.agents.monitor_sync import MonitorSync
from belvedere.server.agents.transfers.downloads import Downloads
from belvedere.server.agents.transfers.uploads import CREDIT, Uploads
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agents")
encode = msgspec.json.Encoder().encode

BEAT_MS = 10_000
# Nobody waits for an acknowledgement: it is sent with the next order or after this time, which is
# still before the keeper syncs the end of a job that the server might not have.
ACK_S = 0.01
# What waits is sent within this time before a connection is closed.
CLOSE_S = 10.0


class AgentConnection:
    """A connected agent: its session, its open attempts, and messages that wait to be sent. A
    server has thousands that do nothing: small objects, and no task while nothing is sent."""

    __slots__ = (
        *("runtime", "host_id", "customer_id", "address", "session", "is_closing", "disk"),
        *("last_frame_at", "seen_at", "is_heard", "accepted", "accepted_recorded"),
        *("on_end", "is_ended", "fault", "jobs", "monitor_sync", "moves", "has_monitors"),
        *("_send", "_send_now", "_sending", "_flush_handle", "_outbox", "_ended", "_ack_due"),
        *("_close_request", "_canceled", "_ending", "_started", "_has_logged_unknown", "_tasks"),
        *("_uploads", "_downloads", "_loop"),
    )

    def __init__(
        self,
        runtime: ServerRuntime,
        actor: Actor,
        send: Send,
        send_now: Callable[[list[FromServer]], bool] | None = None,
    ) -> None:
        self.runtime = runtime
        self.host_id, self.customer_id = actor.host_id, actor.customer_id
        self.address = actor.address
        self.session, self.is_closing = 0, False
        # Whether the agent follows `Reconnect`, and whether the host had monitors when the session
        # was opened; why the agent's disk takes no work, empty: it does.
        self.moves, self.has_monitors, self.disk = False, False, ""
        # Time of the last frame, by the clocks of event loop and server; whether to store it.
        self.last_frame_at, self.seen_at, self.is_heard = 0.0, 0, False
        # The highest fence whose script has certainly started here, and the highest one recorded.
        self.accepted = self.accepted_recorded = 0
        self._send = send
        self._send_now = send_now
        self._loop = asyncio.get_running_loop()
        # Called when the connection has to end, with the reason if there is one.
        self.on_end: Callable[[Exception | None], None] | None = None
        self.is_ended = False
        self.fault: Exception | None = None
        # Sends what the socket does not take at once; and the call that sends the outbox.
        self._sending: asyncio.Task[None] | None = None
        self._flush_handle: asyncio.Handle | None = None
        self._outbox: list[FromServer] = []
        # Fences whose end is durable here and not acknowledged yet.
        self._ended: list[int] = []
        self._ack_due: asyncio.TimerHandle | None = None
        self._close_request: CloseConnection | None = None
        # Fences of open attempts of this agent, with their jobs.
        self.jobs: dict[int, str] = {}
        self._canceled: dict[int, None] = {}
        # Fences whose end was received and is being written.
        self._ending: dict[int, None] = {}
        # Fences whose start was reported on this connection.
        self._started: dict[int, None] = {}
        self._has_logged_unknown = False
        self._tasks: dict[asyncio.Task[None], None] = {}
        self.monitor_sync = MonitorSync(self, send)
        self._uploads = Uploads(self)
        self._downloads = Downloads(self, send)

    def note_heard(self) -> None:
        """The agent sent something."""
        self.last_frame_at = self._loop.time()
        self.seen_at = self.runtime.clock()
        self.is_heard = True

    @property
    def takes_work(self) -> bool:
        return not self.is_closing and not self.disk

    # Sending
    def push(self, *messages: FromServer) -> None:
        self._outbox.extend(messages)
        self.wake()

    def wake(self) -> None:
        """There is something to send: send it in the next iteration of the event loop."""
        if self._flush_handle is None and self._sending is None:
            self._flush_handle = self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_handle = None
        if self._sending is None and not self._send_outbox_now():
            self._sending = self._loop.create_task(self._send_outbox())

    def send_orders(self, orders: list[Order]) -> None:
        """Send orders that are durable now."""
        for order in orders:
            self.jobs[order.fence] = order.job_id
        self._outbox.extend(orders)
        if not self._send_outbox_now():
            self.wake()

    def _send_outbox_now(self) -> bool:
        """Send without a task, which would cost orders one loop iteration."""
        if self._send_now is None or self._sending is not None or self.is_closing:
            return False
        self._acknowledge()
        if not self._outbox:
            return True
        try:
            is_sent = self._send_now(self._outbox)
        except Exception:
            # Not raised here, after the commit of another operation: `_send_outbox` gets the
            # same error and ends the connection.
            return False
        if is_sent:
            self._outbox.clear()
        return is_sent

    def close(self, code: int, reason: str) -> None:
        self.is_closing = True
        self._close_request = CloseConnection(code, reason)
        self.wake()
        # Also if the agent does not read what waits to be sent before.
        self._loop.call_later(CLOSE_S, self.end, self._close_request)

    def end(self, fault: Exception | None) -> None:
        """End the connection for this reason, without sending what waits."""
        if not self.is_ended:
            self.is_ended, self.fault = True, fault
            if self.on_end is not None:
                self.on_end(fault)

    async def _send_outbox(self) -> None:
        """Send everything that waits in one frame, again and again while there is more."""
        try:
            while self._outbox or self._ended or self._uploads.has_messages:
                self._acknowledge()
                messages, self._outbox = self._outbox, []
                await self._send({"type": "websocket.send", "text": encode(messages).decode()})
            if self._close_request is not None:
                self.end(self._close_request)
        except Exception as fault:
            self.end(fault)
        finally:
            self._sending = None

    def _acknowledge(self) -> None:
        if self._ack_due is not None:
            self._ack_due.cancel()
            self._ack_due = None
            self._outbox.append(Ack(self._ended))
            self._ended = []
        self._uploads.add_messages(self._outbox)

    # Receiving
    async def open_session(self, hello: Hello) -> None:
        """Open the session; the agent's journal completes what the last session left open."""
        if hello.protocol != VERSION:
            raise CloseConnection(4400, f"The server needs protocol {VERSION}; update the agent.")
        message_limits.check_hello(hello)
        self.disk, self.moves = hello.disk, hello.moves
        opened = await self.runtime.db.write(self._write_session, hello)
        if isinstance(opened, Conflict):
            raise opened
        self.session, self.has_monitors = opened.number, opened.has_monitors
        self.jobs.update(opened.open_jobs)
        resync_result, fences = opened.resync, list(opened.jobs)
        resume = await self.runtime.logs.read(queries.resume, fences) if fences else {}
        self._uploads.resume(resume)
        self.push(Welcome(self.session, self.host_id, BEAT_MS, CREDIT, resume, files=True))
        self.push(*map(Stop, resync_result.stop), *map(Cancel, resync_result.cancel))
        self._canceled.update(dict.fromkeys(resync_result.cancel))
        self.monitor_sync.takes_changes = hello.takes_changes

    def _write_session(self, tx: Tx, hello: Hello) -> queries.OpenedSession | Conflict:
        # Also here: a failover may be noticed while the hello waits, and jobs be created after it.
        self.runtime.check_admission()
        return queries.open_session(tx, self.host_id, hello, self.address)

    def skip(self, frame: bytes) -> bool:
        """Whether this is the last heartbeat again: then there is nothing to read."""
        if not self.monitor_sync.is_quiet_beat(frame):
            return False
        self.note_heard()
        return True

    def receive(self, frame: str | bytes | list[dict[str, Any]]) -> None:
        self.note_heard()
        if self.is_closing:
            # The host may have another connection by now, on which the agent repeats it.
            return
        if isinstance(frame, bytes):
            self._uploads.receive(frame)
            return
        if isinstance(frame, str) and self.monitor_sync.is_quiet_beat(frame.encode()):
            return
        messages = messages_in(frame) if isinstance(frame, str) else frame
        for raw in messages:
            message = message_limits.message_of(raw)
            if message is None:
                self._log_unknown(raw.get("kind", ""))
            else:
                self._receive(message)
        if isinstance(frame, str) and len(messages) == 1 and messages[0].get("kind") == "beat":
            self.monitor_sync.remember_beat(frame)

    def _log_unknown(self, kind: object) -> None:
        """Once per connection, so that a repeated message does not fill the log."""
        if not self._has_logged_unknown:
            self._has_logged_unknown = True
            log.warning("agent sent an unknown message host=%s kind=%.40r", self.host_id, kind)

    def _receive(self, message: object) -> None:
        match message:
            case AttemptEnded():
                self._receive_end(message)
            case AttemptStarted():
                self._receive_start(message)
            case Heartbeat():
                self.monitor_sync.compare(message.watch)
                self._record_disk(message.disk)
            case BlobRequest():
                self._downloads.request(message.sha256)
            case Samples():
                self.monitor_sync.take(message, message_limits.check_samples(message))
            case MonitorConfigRequest():
                self.monitor_sync.send_list()
            case Hello():
                raise CloseConnection(4400, "The agent sent a second hello.")

    def _record_disk(self, reason: str) -> None:
        if reason != self.disk:
            self.disk = reason
            self.monitor_sync.forget_beat()
            self.spawn(
                self.runtime.db.write(presence.note_disk, self.host_id, self.session, reason)
            )

    def _receive_start(self, started: AttemptStarted) -> None:
        """Written once; an agent repeats it only on its next connection."""
        check_numbers(started.fence, started.ago_ms)
        if started.fence in self.jobs and started.fence not in self._started:
            self._started[started.fence] = None
            self.accepted = max(self.accepted, started.fence)
            start = (self.host_id, started.fence, started.ago_ms)
            future = self.runtime.db.write_batched(resync.record_started, start)
            # Only to mark an exception as handled: the end of the job repeats a missed `started`.
            future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _receive_end(self, ended: AttemptEnded) -> None:
        report = ended.report
        check_numbers(ended.fence)
        message_limits.check_report(report)
        # A job that ended with an error has certainly not run, perhaps because of its journal.
        if ended.fence > self.accepted and ended.fence in self.jobs and report.ending != "error":
            self.accepted = ended.fence
        if is_returned(report):
            # Before it is written: the claim at the end of that transaction must not send it again.
            self._record_disk(self.disk or report.message or report.reason)
        if ended.fence in self._ending:
            # The first report is being written and will be acknowledged.
            return
        self._ending[ended.fence] = None
        # From here on the attempt accepts neither output nor files.
        job_id = self.jobs.pop(ended.fence, None)
        is_complete = report.log is not None and not report.files
        if job_id is None or is_complete:
            self._finish(ended)
        else:
            self.spawn(self._finish_streamed(ended, job_id))

    def _finish(self, ended: AttemptEnded) -> None:
        item = finish.ReceivedReport(self.host_id, ended.fence, ended.report)
        future = self.runtime.db.write_batched(self.runtime.agents.finish, item)
        future.add_done_callback(lambda done: self._finished(ended.fence, done))

    def _finished(self, fence: int, done: "asyncio.Future[finish.ReportOutcome]") -> None:
        if done.cancelled() or done.exception() is not None:
            # Not acknowledged, so the agent repeats it after the database is back.
            self.close(4503, "the server could not store the end of a job; reconnect")
            return
        self._ending.pop(fence, None)
        self._uploads.forget(fence)
        self._canceled.pop(fence, None)
        self._started.pop(fence, None)
        self._ended.append(fence)
        if self._ack_due is None:
            self._ack_due = self._loop.call_later(ACK_S, self.wake)

    async def _finish_streamed(self, ended: AttemptEnded, job_id: str) -> None:
        """Store all output first: the end is written when every byte before it is durable."""
        await self._uploads.wait_stored(ended.fence)
        if self.is_closing:
            # Some output may not be stored: the agent repeats all of it, with this end.
            return
        report, fence, logs = ended.report, ended.fence, self.runtime.logs
        closing = log_store.LogEnd(
            fence,
            job_id,
            report.bytes_total,
            report.lines_total,
            report.sha256,
            self.customer_id,
        )
        await logs.write(log_store.close, closing)
        # Another server may have stored an end of the attempt meanwhile.
        if report.files:
            is_open = await self.runtime.db.read(queries.is_open, self.host_id, fence)
            if is_open:
                await logs.write(artifacts.close, fence, job_id, report.files)
        self._finish(ended)

    # Cancel requests

    def on_signal(self, _: Signal) -> None:
        """A person cancelled or resolved a job that may run here."""
        self.spawn(self._apply_requests())

    async def _apply_requests(self) -> None:
        cancel_requests = await self.runtime.db.read(queries.cancel_requests, self.host_id)
        self.cancel([fence for fence in cancel_requests if cancel_requests[fence]])
        unlisted = [fence for fence in self.jobs if fence not in cancel_requests]
        resolved = await self.runtime.db.read(queries.resolved_fences, unlisted) if unlisted else []
        for fence in resolved:
            self.jobs.pop(fence, None)
        self.push(*[Stop(fence) for fence in resolved])

    def cancel(self, fences: list[int]) -> None:
        """Ask the agent to cancel these attempts, once for each."""
        new_fences = [
            fence for fence in fences if fence in self.jobs and fence not in self._canceled
        ]
        self._canceled.update(dict.fromkeys(new_fences))
        self.push(*[Cancel(fence) for fence in new_fences])

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks[task] = None
        task.add_done_callback(self._task_done)

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning("agent connection failed host=%s error=%s", self.host_id, task.exception())
            self.close(4503, "internal error; reconnect")

    def cancel_tasks(self) -> None:
        for task in (*self._tasks, self._sending):
            if task is not None:
                task.cancel()
        if self._flush_handle is not None:
            self._flush_handle.cancel()
        if self._ack_due is not None:
            self._ack_due.cancel()
