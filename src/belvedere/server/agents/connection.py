"""One agent's WebSocket, from its hello to the end."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict
from belvedere.db.signals import Signal
from belvedere.hosts import presence
from belvedere.jobs.lifecycle import finish, resync
from belvedere.jobs.lifecycle.verdict import is_returned
from belvedere.jobs.output import artifacts
from belvedere.jobs.output import log_store as joblog
from belvedere.protocol import (
    VERSION,
    Ack,
    Beat,
    Cancel,
    Ended,
    FromServer,
    Hello,
    Order,
    Samples,
    Started,
    Stop,
    Want,
    WatchAgain,
    Welcome,
)
from belvedere.server.agents import queries
from belvedere.server.agents.close_reasons import Goodbye, check_numbers
from belvedere.server.agents.monitor_sync import Watcher
from belvedere.server.agents.transfers import limits
from belvedere.server.agents.transfers.downloads import Transfers
from belvedere.server.agents.transfers.uploads import CREDIT, Intake
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agents")
encode = msgspec.json.Encoder().encode
# Made once: for a type that is named in the call the shape is worked out anew every time.
decode = msgspec.json.Decoder(list[dict[str, Any]]).decode

BEAT_MS = 10_000
# Nobody waits for an acknowledgement: it leaves with the next order, or this much later, which is
# still before the keeper makes an end durable that the server might not have.
ACK_S = 0.01
SHAPES: dict[str, Any] = {
    "hello": Hello,
    "started": Started,
    "ended": Ended,
    "beat": Beat,
    "want": Want,
    "samples": Samples,
    "watch_again": WatchAgain,
}


class Link:
    """A connected agent: what it was given, what it owes, what waits to be sent."""

    def __init__(
        self,
        runtime: ServerRuntime,
        actor: Actor,
        send: Any,
        say: Callable[[list[FromServer]], bool] | None = None,
    ) -> None:
        self.runtime = runtime
        self.host_id = actor.host_id
        self.customer_id = actor.customer_id
        self.address = actor.address
        self.session = 0
        self.is_closing = False
        # What the agent's disk lacks: until nothing does, it gets no work.
        self.disk = ""
        # By the loop's clock.
        self.heard_at = 0.0
        # The highest fence whose script has certainly started here, and as far as it is recorded.
        self.accepted = self.accepted_noted = 0
        self._send = send
        # Sends at once, where the wire can.
        self._say = say
        # Nothing that left the outbox is still under way.
        self._is_idle = False
        self._outbox: list[FromServer] = []
        # Ends that are durable here and not acknowledged yet.
        self._ended: list[int] = []
        self._ack_due: asyncio.TimerHandle | None = None
        self._wake = asyncio.Event()
        self._goodbye: Goodbye | None = None
        # Fences that this agent may speak for, with their jobs.
        self.jobs: dict[int, str] = {}
        self._canceled: set[int] = set()
        # Fences whose end has come and is being written.
        self._ending: set[int] = set()
        # Fences whose process runs, as far as this connection said so.
        self._started: set[int] = set()
        self._has_said_unknown = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.watcher = Watcher(self, send)
        self._intake = Intake(self)
        self._transfers = Transfers(self, send)

    @property
    def takes_work(self) -> bool:
        return not self.is_closing and not self.disk

    # What goes out

    def push(self, *messages: FromServer) -> None:
        self._outbox.extend(messages)
        self._wake.set()

    def wake(self) -> None:
        """Something waits to be said that is not in the outbox."""
        self._wake.set()

    def give(self, orders: list[Order]) -> None:
        """Orders that are durable now."""
        for order in orders:
            self.jobs[order.fence] = order.job_id
        self._outbox.extend(orders)
        if not self._leaves_at_once():
            self._wake.set()

    def _leaves_at_once(self) -> bool:
        """Spares the work for which an agent waits a turn of the loop, and the waking of a task."""
        if self._say is None or not self._is_idle or self.is_closing:
            return False
        self._acknowledge()
        try:
            has_left = self._say(self._outbox)
        except Exception:
            # Not here, behind somebody's commit: the loop meets the same and ends the link.
            return False
        if has_left:
            self._outbox.clear()
        return has_left

    def close(self, code: int, reason: str) -> None:
        self.is_closing = True
        self._goodbye = Goodbye(code, reason)
        self._wake.set()

    async def send_loop(self) -> None:
        """Everything that waits leaves in one frame."""
        while True:
            self._is_idle = True
            await self._wake.wait()
            self._is_idle = False
            self._wake.clear()
            while self._outbox or self._ended or self._intake.has_news:
                self._acknowledge()
                messages, self._outbox = self._outbox, []
                await self._send({"type": "websocket.send", "text": encode(messages).decode()})
            if self._goodbye is not None:
                raise self._goodbye

    def _acknowledge(self) -> None:
        if self._ack_due is not None:
            self._ack_due.cancel()
            self._ack_due = None
            self._outbox.append(Ack(self._ended))
            self._ended = []
        self._intake.tell(self._outbox)

    # What comes in

    async def greet(self, hello: Hello) -> None:
        """Open the session: the journal settles what the last one left open."""
        if hello.protocol != VERSION:
            raise Goodbye(4400, f"This server speaks protocol {VERSION}; update the agent.")
        limits.check_hello(hello)
        self.disk = hello.disk
        opened = await self.runtime.db.write(queries.greet, self.host_id, hello, self.address)
        if isinstance(opened, Conflict):
            raise opened
        self.session, told, ready, held = opened
        self.jobs.update(ready)
        resume = await self.runtime.logs.read(queries.resume, list(held))
        self._intake.resume(resume)
        self.push(Welcome(self.session, self.host_id, BEAT_MS, CREDIT, resume, files=True))
        self.push(*[Stop(fence) for fence in told.stop])
        self.push(*[Cancel(fence) for fence in told.cancel])
        self._canceled.update(told.cancel)
        self.watcher.takes_changes = hello.takes_changes

    def receive(self, frame: str | bytes | list[dict[str, Any]]) -> None:
        if self.is_closing:
            # Another connection of the host may speak by now; what matters comes again there.
            return
        if isinstance(frame, bytes):
            self._intake.receive(frame)
            return
        for raw in messages_in(frame) if isinstance(frame, str) else frame:
            kind = raw.get("kind", "")
            shape = SHAPES.get(kind) if isinstance(kind, str) else None
            if shape is None:
                self._note_unknown(kind)
            else:
                self._receive(msgspec.convert(raw, shape))

    def _note_unknown(self, kind: Any) -> None:
        """Once per connection: a loop of them must not fill the log."""
        if not self._has_said_unknown:
            self._has_said_unknown = True
            log.warning("An agent sent an unknown message. host=%s kind=%.40r", self.host_id, kind)

    def _receive(self, message: Any) -> None:
        match message:
            case Ended():
                self._receive_end(message)
            case Started():
                self._receive_start(message)
            case Beat():
                self.watcher.compare(message.watch)
                self._note_disk(message.disk)
            case Want():
                self._transfers.want(message.sha256)
            case Samples():
                self.watcher.take(message, limits.check_samples(message))
            case WatchAgain():
                self.watcher.send_list()
            case Hello():
                raise Goodbye(4400, "A second hello.")

    def _note_disk(self, lack: str) -> None:
        if lack != self.disk:
            self.disk = lack
            self.spawn(self.runtime.db.write(presence.note_disk, self.host_id, self.session, lack))

    def _receive_start(self, started: Started) -> None:
        """Written once: an agent repeats it only on its next connection."""
        check_numbers(started.fence, started.ago_ms)
        if started.fence in self.jobs and started.fence not in self._started:
            self._started.add(started.fence)
            self.accepted = max(self.accepted, started.fence)
            begun = (self.host_id, started.fence, started.ago_ms)
            self._watch(self.runtime.db.write_batched(resync.started, begun))

    def _receive_end(self, ended: Ended) -> None:
        report = ended.report
        check_numbers(ended.fence)
        limits.check_report(report)
        # An error is certain not to have run, and its journal may not have been writable.
        if ended.fence > self.accepted and ended.fence in self.jobs and report.ending != "error":
            self.accepted = ended.fence
        if is_returned(report):
            # Before it is written: the end of that transaction must not give it out again.
            self._note_disk(self.disk or report.message or report.reason)
        if ended.fence in self._ending:
            # The first one is being written, and is acknowledged then.
            return
        self._ending.add(ended.fence)
        # From here on the attempt takes neither output nor files.
        job_id = self.jobs.pop(ended.fence, None)
        is_inside = report.log is not None and not report.files
        if job_id is None or is_inside:
            self._settle(ended)
        else:
            self.spawn(self._settle_streamed(ended, job_id))

    def _settle(self, ended: Ended) -> None:
        item = finish.Reported(self.host_id, ended.fence, ended.report)
        future = self.runtime.db.write_batched(finish.finish, item)
        future.add_done_callback(lambda done: self._settled(ended.fence, done))

    def _settled(self, fence: int, done: "asyncio.Future[finish.Outcome]") -> None:
        if done.cancelled() or done.exception() is not None:
            # Not acknowledged, so it comes again; a database that is away must not lose an end.
            self.close(4503, "the server could not store an end; come back")
            return
        self._ending.discard(fence)
        self._intake.forget(fence)
        self._canceled.discard(fence)
        self._started.discard(fence)
        self._ended.append(fence)
        if self._ack_due is None:
            loop = asyncio.get_running_loop()
            self._ack_due = loop.call_later(ACK_S, self._wake.set)

    async def _settle_streamed(self, ended: Ended, job_id: str) -> None:
        """All output first: the end of a stream is told when its bytes are durable."""
        await self._intake.stored(ended.fence)
        if self.is_closing:
            # Something of it may not be stored: all of it comes again, with this end.
            return
        report, fence, logs = ended.report, ended.fence, self.runtime.logs
        closing = joblog.Closing(
            fence,
            job_id,
            report.bytes_total,
            report.lines_total,
            report.sha256,
            self.customer_id,
        )
        await logs.write(joblog.close, closing)
        # Another server may have taken an end of it meanwhile.
        if report.files:
            is_open = await self.runtime.db.read(queries.is_open, self.host_id, fence)
            if is_open:
                await logs.write(artifacts.close, fence, job_id, report.files)
        self._settle(ended)

    # What people want of running jobs

    def rung(self, _: Signal) -> None:
        """A cancel or a verdict by a person may concern a job that runs here."""
        self.spawn(self._look_at_wishes())

    async def _look_at_wishes(self) -> None:
        wishes = await self.runtime.db.read(queries.wishes, self.host_id)
        self.cancel([fence for fence in wishes if wishes[fence]])
        stop = [fence for fence in self.jobs if fence not in wishes]
        settled = await self.runtime.db.read(queries.settled_fences, stop) if stop else []
        for fence in settled:
            self.jobs.pop(fence, None)
        self.push(*[Stop(fence) for fence in settled])

    def cancel(self, fences: list[int]) -> None:
        """Tell the agent, once for each, what of its work shall be stopped."""
        fresh = [fence for fence in fences if fence in self.jobs and fence not in self._canceled]
        self._canceled.update(fresh)
        self.push(*[Cancel(fence) for fence in fresh])

    def spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._spawned)

    def _spawned(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.warning("link of host %s: %s", self.host_id, task.exception())
            self.close(4503, "the server stumbled; come back")

    def _watch(self, future: "asyncio.Future[Any]") -> None:
        # Only to mark an exception as seen: a missed `started` is told again by the end.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()


def messages_in(frame: str | bytes) -> list[dict[str, Any]]:
    """The messages of a text frame; ValidationError for anything else."""
    limits.check_values(frame)
    return limits.check_messages(decode(frame))
