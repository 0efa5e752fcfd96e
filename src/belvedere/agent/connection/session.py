"""One connection to the server, from Hello on: what either side says, handed to the other."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol

from belvedere.agent import messages as speech
from belvedere.agent.connection.order_intake import Supply
from belvedere.agent.disk_space import DISK_FULL, Space
from belvedere.agent.file_cache import Cache
from belvedere.agent.isolation import aside
from belvedere.agent.json_lines import from_json
from belvedere.agent.keeper_client import Attachment
from belvedere.agent.monitoring.monitor_list import Checks, WatchList
from belvedere.agent.monitoring.sample_buffer import Buffer
from belvedere.agent.output import memory_buffer
from belvedere.agent.output.upload import Streams
from belvedere.base.failpoints import reach
from belvedere.protocol import (
    Ack,
    Beat,
    Cancel,
    Credit,
    Ended,
    FromAgent,
    FromServer,
    Kept,
    Missing,
    Noted,
    Order,
    Refusal,
    Started,
    Stop,
    Watch,
    WatchAgain,
    Welcome,
)

log = logging.getLogger("belvedere.agent")

GATHER_S = 0.2
# Characters of reports in one frame. JSON takes at most 12 bytes for one, and the server refuses
# messages of more than 4 MiB.
MAX_ENDS_SIZE = 128 * 1024
# What a report has beside its texts, and a name in one of its lists.
REPORT_SIZE, NAME_SIZE = 400, 250


class Socket(Protocol):
    def has_room(self) -> bool: ...

    async def room(self) -> None: ...

    def say(self, messages: Sequence[FromAgent]) -> None: ...

    def send(self, frame: bytes) -> None: ...


class Watching(Checks, Protocol):
    """Checks that go on without a connection, until they are closed."""

    def close(self) -> None: ...

    async def closed(self) -> None: ...


class Session:
    def __init__(
        self,
        keeper: Attachment,
        cache: Cache,
        spool: str,
        lookout: Watching,
        samples: Buffer,
        files: str = "",
        scripts_user: str = "",
        space: Space | None = None,
    ) -> None:
        self._keeper = keeper
        self._space = space or Space(())
        # What the server was last told of the disk.
        self._disk = self._space.message
        self._supply = Supply(keeper, cache, self._say, scripts_user, self._space)
        self._streams = Streams(spool, files)
        self._watch_list = WatchList(lookout, lambda number: self._say(WatchAgain(number)))
        self._samples = samples
        # Samples of one moment leave together.
        self._soon: asyncio.TimerHandle | None = None
        self._outbox: list[FromAgent] = []
        self._socket: Socket | None = None
        self._wake = asyncio.Event()
        self._number = 0
        # Not ended yet, as far as we were told.
        self._live: set[int] = set()
        self._unknown: set[str] = set()
        # What the keeper said between its state and the server's Welcome.
        self._early: list[dict[str, Any]] = []
        self.state: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.refusal: Refusal | None = None

    def hear_keeper(self, message: dict[str, Any]) -> None:
        """Until its state arrives, what it says belongs to an earlier session."""
        say = message["say"]
        if say == "state":
            # A second one answers a Hello that was given up before the keeper could.
            if not self.state.done():
                self.state.set_result(message)
        elif self._number:
            self._hear_news(say, message)
        elif self.state.done():
            self._early.append(message)

    def _hear_news(self, say: str, message: dict[str, Any]) -> None:
        fence = message["fence"]
        if say == "ended":
            self._live.discard(fence)
            if message["report"].get("reason") == DISK_FULL:
                self._space.fail(message["report"]["message"])
                self._tell_disk()
            self._streams.end(fence, speech.report(message["report"]))
        elif say == "output":
            self._hold(message)
            self._streams.grow(fence, message["total"])
        elif say == "started":
            self._outbox.append(Started(fence, message["age_ms"]))
        elif say == "gone":
            self._live.discard(fence)
            self._streams.drop(fence)

    def _hold(self, message: dict[str, Any]) -> None:
        """Output that the keeper could not write to disk; keepers of earlier versions drop it."""
        if message.get("held"):
            self._streams.hold(message["fence"], memory_buffer.unpack(message["held"]))

    def open(self, welcome: Welcome) -> None:
        """Go on where the last connection broke off, with everything that is not acknowledged."""
        self._number = welcome.session
        self._supply.can_mask = self.state.result().get("version", 1) >= 2
        self._streams.credit = welcome.credit
        self._streams.takes_files = welcome.files
        self._keeper.say({"do": "open", "session": welcome.session})
        self._keeper.flush()
        for entry in self.state.result()["entries"]:
            self._resume(entry, welcome.resume.get(str(entry["fence"]), 0))
        self._samples.reopen()
        self._samples.listener = self._hear_sample
        # After the state, which is older: an end that came meanwhile must not be lost.
        for message in self._early:
            self._hear_news(message["say"], message)
        self._wake.set()

    def _resume(self, entry: dict[str, Any], offset: int) -> None:
        fence: int = entry["fence"]
        self._streams.resume(fence, offset)
        self._hold(entry)
        if entry["report"] is not None:
            self._streams.end(fence, speech.report(entry["report"]))
            return
        self._live.add(fence)
        self._streams.grow(fence, entry["total"])
        if entry["age_ms"] is not None:
            self._outbox.append(Started(fence, entry["age_ms"]))

    def hear(self, frame: str | bytes | list[dict[str, Any]]) -> None:
        """One frame of the server, or what it would say."""
        if isinstance(frame, str):
            self.hear_server(from_json(frame))
        elif isinstance(frame, bytes):
            self.hear_bytes(frame)
        else:
            self.hear_server(frame)

    def hear_server(self, messages: list[dict[str, Any]]) -> None:
        """All that came in one frame."""
        for raw in messages:
            message = speech.decode(raw)
            if message is None:
                self._note_unknown(str(raw.get("kind")))
            else:
                self._answer(message)
        self._keeper.flush()

    def _note_unknown(self, kind: str) -> None:
        if kind not in self._unknown:
            self._unknown.add(kind)
            log.warning("The server said %r, which this agent does not know; ignored.", kind)

    def _answer(self, message: FromServer) -> None:
        match message:
            case Order():
                reach("agent.order_received")
                if message.session == self._number and message.fence not in self._live:
                    self._live.add(message.fence)
                    self._supply.order(message)
                    self._tell_disk()
            case Ack():
                self._ack(message.fences)
            case Kept(fence, offset):
                if self._streams.keep(fence, offset):
                    self._keeper.say({"do": "kept", "fence": fence, "offset": offset})
            case Credit():
                self._streams.credit += message.bytes
                self._wake.set()
            case Cancel(fence):
                if not self._supply.cancel(fence):
                    self._keeper.say({"do": "cancel", "fence": fence})
            case Stop(fence):
                if self._supply.forget(fence):
                    self._live.discard(fence)
                else:
                    self._keeper.say({"do": "stop", "fence": fence})
            case Missing(sha256):
                self._supply.fail(sha256, "The server does not have it.")
            case Watch():
                self._watch_list.take(message)
            case Noted(stream, number):
                self._samples.noted(stream, number)
                self._wake.set()
            case Refusal():
                self.refusal = message
            case Welcome():
                pass

    def _ack(self, fences: list[int]) -> None:
        reach("agent.acked")
        for fence in fences:
            self._streams.drop(fence)
        self._keeper.say({"do": "ack", "fences": fences})

    def hear_bytes(self, frame: bytes) -> None:
        self._supply.feed(frame)
        self._keeper.flush()

    def _say(self, message: FromAgent) -> None:
        self._outbox.append(message)
        self._wake.set()

    def _hear_sample(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(GATHER_S, self._say_samples)

    def _say_samples(self) -> None:
        self._soon = None
        self._wake.set()

    async def beat(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await aside(self._space.refresh)
            if not self._space.message and not self.state.result().get("is_saved", True):
                raise OSError("The journal can be written again; saying hello with a new number.")
            self._beat()

    def _beat(self) -> None:
        self._disk = self._space.message
        self._say(Beat(sorted(self._live), self._watch_list.number, self._disk))

    def _tell_disk(self) -> None:
        """At once, before an order that was not taken is returned: it must not come again."""
        if self._disk != self._space.message:
            self._beat()

    async def speak(self, socket: Socket) -> None:
        """Everything that waits goes into one frame; output takes turns with it, so that a flood
        delays no other job's end."""
        self._socket = socket
        while True:
            await self._wake.wait()
            self._wake.clear()
            await socket.room()
            while self._say_something(socket):
                await socket.room()

    def speak_up(self) -> None:
        """What the keeper gave us, at once where there is room: a lone end wakes no task."""
        socket = self._socket
        if socket is None or not socket.has_room() or self._say_something(socket):
            self._wake.set()

    def _say_something(self, socket: Socket) -> bool:
        """Whether there may be more. Nothing is taken here that does not leave here, so whoever
        speaks next goes on behind it."""
        thing = self._streams.next()
        has_ends = isinstance(thing, Ended)
        size = 0
        while isinstance(thing, Ended):
            self._outbox.append(thing)
            size += _size(thing)
            thing = self._streams.next() if size < MAX_ENDS_SIZE else None
        while self._soon is None and (batch := self._samples.next()) is not None:
            self._outbox.append(batch)
        messages, self._outbox = self._outbox, []
        if messages:
            socket.say(messages)
            if has_ends:
                reach("agent.reported")
        if thing is not None:
            socket.send(thing)
        return thing is not None or size >= MAX_ENDS_SIZE

    def close(self) -> None:
        """Orders that still wait were never accepted; the server hears so from the next Hello."""
        self._keeper.listener = self._keeper.pause_listener = None
        self._samples.listener = None
        if self._soon is not None:
            self._soon.cancel()
        self._supply.close()


def _size(ended: Ended) -> int:
    """Characters of a report, roughly."""
    report = ended.report
    named = len(report.files) + len(report.files_skipped) + len(report.survivors)
    texts = len(report.log or "") + len(report.lastline) + len(report.message)
    return REPORT_SIZE + texts + named * NAME_SIZE
