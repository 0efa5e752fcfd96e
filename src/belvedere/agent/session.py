"""One connection to the server, from Hello on: what either side says, handed to the other."""

import asyncio
import logging
from typing import Any, Protocol

from belvedere.agent import speech
from belvedere.agent.attach import Attachment
from belvedere.agent.cache import Cache
from belvedere.agent.staging import basename
from belvedere.agent.streams import Streams
from belvedere.base.failpoint import reach
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
    Order,
    Refusal,
    Started,
    Stop,
    Want,
    Welcome,
    unpack_blob,
)

log = logging.getLogger("belvedere.agent")


class Socket(Protocol):
    async def send(self, message: str | bytes) -> None: ...


class Session:
    def __init__(self, keeper: Attachment, cache: Cache, spool: str) -> None:
        self._keeper = keeper
        self._cache = cache
        self._streams = Streams(spool)
        self._outbox: list[FromAgent] = []
        self._wake = asyncio.Event()
        self._number = 0
        # Not ended yet, as far as the keeper told; and those that wait for their script's bytes.
        self._live: set[int] = set()
        self._waiting: dict[int, Order] = {}
        self._unknown: set[str] = set()
        self.state: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.refusal: Refusal | None = None

    # What the keeper says.

    def hear_keeper(self, message: dict[str, Any]) -> None:
        """Until its state arrives, what it says belongs to an earlier session."""
        say = message["say"]
        if say == "state":
            self.state.set_result(message)
        elif self.state.done():
            self._hear_news(say, message)

    def _hear_news(self, say: str, message: dict[str, Any]) -> None:
        fence = message["fence"]
        if say == "ended":
            self._live.discard(fence)
            self._streams.end(fence, speech.report(message["report"]))
        elif say == "output":
            self._streams.grow(fence, message["total"])
        elif say == "started":
            self._outbox.append(Started(fence, message["age_ms"]))
        elif say == "gone":
            self._live.discard(fence)
            self._streams.drop(fence)
        self._wake.set()

    def open(self, welcome: Welcome) -> None:
        """Go on where the last connection broke off, with everything that is not acknowledged."""
        self._number = welcome.session
        self._streams.credit = welcome.credit
        self._keeper.say({"do": "open", "session": welcome.session})
        self._keeper.flush()
        for entry in self.state.result()["entries"]:
            self._resume(entry, welcome.resume.get(str(entry["fence"]), 0))
        self._wake.set()

    def _resume(self, entry: dict[str, Any], offset: int) -> None:
        fence: int = entry["fence"]
        self._streams.resume(fence, offset)
        if entry["report"] is not None:
            self._streams.end(fence, speech.report(entry["report"]))
            return
        self._live.add(fence)
        self._streams.grow(fence, entry["total"])
        if entry["age_ms"] is not None:
            self._outbox.append(Started(fence, entry["age_ms"]))

    # What the server says.

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
                self._order(message)
            case Ack():
                self._ack(message.fences)
            case Kept(fence, offset):
                if self._streams.keep(fence, offset):
                    self._keeper.say({"do": "kept", "fence": fence, "offset": offset})
            case Credit():
                self._streams.credit += message.bytes
                self._wake.set()
            case Cancel(fence):
                self._cancel(fence)
            case Stop(fence):
                self._stop(fence)
            case Missing(sha256):
                self._fail_waiting(sha256, "The server does not have it.")
            case Refusal():
                self.refusal = message
            case Welcome():
                pass

    def _ack(self, fences: list[int]) -> None:
        reach("agent.acked")
        for fence in fences:
            self._streams.drop(fence)
        self._keeper.say({"do": "ack", "fences": fences})

    def _cancel(self, fence: int) -> None:
        order = self._waiting.pop(fence, None)
        if order is None:
            self._keeper.say({"do": "cancel", "fence": fence})
        else:
            self._refuse(order, {"ending": "canceled", "reason": "not_started"})

    def _stop(self, fence: int) -> None:
        if self._waiting.pop(fence, None) is None:
            self._keeper.say({"do": "stop", "fence": fence})
        else:
            self._live.discard(fence)

    # Orders and the bytes they need.

    def _order(self, order: Order) -> None:
        reach("agent.order_received")
        if order.session != self._number or order.fence in self._live:
            return
        self._live.add(order.fence)
        if not self._hand_over(order):
            self._waiting[order.fence] = order
            self._fetch(order)

    def _hand_over(self, order: Order) -> bool:
        """To the keeper, when all of its bytes are here."""
        script = self._cache.path(order.sha256, basename(order.filename))
        blobs = [(blob, self._cache.path(blob.sha256, "blob")) for blob in order.blobs]
        if script is None or any(path is None for _, path in blobs):
            return False
        reach("agent.script_cached")
        self._keeper.say(
            {
                "do": "order",
                "session": order.session,
                "fence": order.fence,
                "job_id": order.job_id,
                "runas": order.runas,
                "arguments": order.arguments,
                "env": order.env,
                "timeout_ms": order.timeout_ms,
                "grace_ms": order.grace_ms,
                "daemonize": order.daemonize,
                "os_user": order.os_user,
                "script": script,
                "blobs": [
                    {"index": blob.index, "filename": blob.filename, "path": path}
                    for blob, path in blobs
                ],
            }
        )
        return True

    def _fetch(self, order: Order) -> None:
        for digest in _digests(order):
            if self._cache.is_coming(digest) or self._cache.path(digest, "blob") is not None:
                continue
            try:
                self._cache.expect(digest)
            except OSError as fault:
                self._fail_waiting(digest, f"It cannot be stored: {fault}.")
                return
            self._outbox.append(Want(digest))
            self._wake.set()

    def hear_bytes(self, frame: bytes) -> None:
        digest, data, last = unpack_blob(frame)
        is_whole = self._cache.feed(digest, data, last=last)
        if is_whole:
            for order in [one for one in self._waiting.values() if digest in _digests(one)]:
                if self._hand_over(order):
                    del self._waiting[order.fence]
        elif is_whole is False:
            self._fail_waiting(digest, "What came is not what was asked for, or has no room.")
        self._keeper.flush()

    def _fail_waiting(self, digest: str, why: str) -> None:
        self._cache.give_up(digest)
        for order in [one for one in self._waiting.values() if digest in _digests(one)]:
            del self._waiting[order.fence]
            message = f"{order.filename or 'The script'} ({digest[:12]}) cannot be had. {why}"
            report = {"ending": "error", "reason": "script_unavailable", "message": message}
            self._refuse(order, report)

    def _refuse(self, order: Order, report: dict[str, Any]) -> None:
        """Through the keeper's journal, like every end: so it is told until it is acknowledged."""
        said = {"do": "refuse", "session": order.session, "fence": order.fence}
        self._keeper.say({**said, "job_id": order.job_id, "report": report})

    # What we say.

    async def beat(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            self._outbox.append(Beat(sorted(self._live)))
            self._wake.set()

    async def speak(self, socket: Socket) -> None:
        """Everything that waits goes into one frame; output takes turns with it, so that a flood
        delays no other job's end."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while await self._say_something(socket):
                pass

    async def _say_something(self, socket: Socket) -> bool:
        thing = self._streams.next()
        while isinstance(thing, Ended):
            self._outbox.append(thing)
            thing = self._streams.next()
        messages, self._outbox = self._outbox, []
        if messages:
            await socket.send(speech.frame(messages))
            if any(isinstance(message, Ended) for message in messages):
                reach("agent.reported")
        if thing is not None:
            await socket.send(thing)
        return thing is not None

    def close(self) -> None:
        """Orders that still wait were never accepted; the server hears so from the next Hello."""
        self._keeper.listener = None
        self._cache.give_up_all()


def _digests(order: Order) -> list[str]:
    return [order.sha256, *(blob.sha256 for blob in order.blobs)]
