"""One session without a network: the order of messages in both directions."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent import messages as agent_messages
from belvedere.agent import wire
from belvedere.agent.connection.session import ServerSession
from belvedere.agent.file_cache import FileCache
from belvedere.agent.keeper_client import KeeperClient
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.monitoring.scheduler import CheckScheduler
from belvedere.protocol import INLINE_LOG, Welcome
from belvedere.server.transport.interface import MAX_MESSAGE

pytestmark = pytest.mark.usefixtures("loop_factory")

REPORT = {"ending": "exit", "log": "done\n", "bytes_total": 5}


class Pipe:
    """Stands in for both sockets: records what was sent to the keeper and to the server."""

    def __init__(self, path: Path) -> None:
        self.to_keeper: list[dict[str, Any]] = []
        self.to_server: list[Any] = []
        self.keeper = KeeperClient()
        self.keeper.send = self._send_messages  # type: ignore[method-assign]
        samples = SampleBuffer()
        self.session = ServerSession(
            self.keeper, FileCache(str(path)), str(path), CheckScheduler(samples), samples
        )
        self.keeper.listener = self.session.receive_from_keeper
        self.keeper.pause_listener = self.session.send_now
        self.frames = 0
        self.longest = 0
        self.is_full = False

    def _send_messages(self, *messages: dict[str, Any]) -> None:
        self.to_keeper += messages

    def has_room(self) -> bool:
        return not self.is_full

    async def room(self) -> None:
        while self.is_full:
            await asyncio.sleep(0)

    def send_messages(self, messages: Sequence[Any]) -> None:
        self.frames += 1
        frame = agent_messages.frame(messages)
        self.longest = max(self.longest, len(frame.encode()))
        self.to_server += json.loads(frame)

    def send(self, frame: bytes) -> None:
        self.frames += 1
        self.to_server.append(frame)

    def hear(self, *messages: dict[str, Any]) -> None:
        self.keeper.data_received(b"".join(map(wire.pack, messages)))

    async def speak(self) -> list[Any]:
        """What it sends next."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await self.session.send_loop(self)
        to_server, self.to_server = self.to_server, []
        return to_server


def entry(fence: int, report: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"fence": fence, "report": report, "total": 0, "age_ms": None, **fields}


def state(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"say": "state", "entries": list(entries)}


def ended_message(fence: int) -> dict[str, Any]:
    return {"say": "ended", "fence": fence, "report": REPORT}


def kinds(items: list[Any]) -> list[tuple[str, int]]:
    return [(message["kind"], message["fence"]) for message in items]


async def test_a_new_session_reports_the_entries_of_the_journal(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    pipe.hear(state(entry(1, REPORT), entry(2, age_ms=70)))
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    assert pipe.to_keeper == [{"do": "open", "session": 5}]
    assert sorted(kinds(await pipe.speak())) == [("ended", 1), ("started", 2)]


async def test_messages_between_the_state_and_the_welcome_are_not_lost(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    pipe.hear(state(entry(1), entry(2)), ended_message(1))
    pipe.hear({"say": "gone", "fence": 2})
    pipe.session.open(Welcome(5, "host", 1000, 1000, {"1": 0, "2": 0}))
    assert kinds(await pipe.speak()) == [("ended", 1)]


async def test_messages_of_an_earlier_session_are_dropped(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    pipe.hear(ended_message(1), state(entry(1, REPORT)))
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    assert kinds(await pipe.speak()) == [("ended", 1)]


async def test_a_report_of_another_version_is_understood(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    pipe.hear(state(entry(1, {**REPORT, "colour": "blue"})))
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    assert kinds(await pipe.speak()) == [("ended", 1)]


def test_a_keeper_survives_invalid_messages(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\nexec sleep 300\n")
    keeper.wait(lambda m: m["say"] == "started")
    keeper.send_messages(do="order", fence=5, session=1)
    keeper.send_messages(do="what is this")
    keeper.say_bytes(b"{ rubbish\n")
    assert [entry["fence"] for entry in keeper.connect()["entries"]] == [fence]


async def open_session(pipe: Pipe) -> "asyncio.Task[None]":
    pipe.hear(state())
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    task = asyncio.create_task(pipe.session.send_loop(pipe))
    await asyncio.sleep(0)
    return task


async def test_an_end_is_sent_at_once_and_concurrent_ends_share_a_frame(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    task = await open_session(pipe)
    pipe.hear(ended_message(1), ended_message(2))
    # Before any task had its turn.
    assert kinds(pipe.to_server) == [("ended", 1), ("ended", 2)]
    assert pipe.frames == 1
    task.cancel()


async def test_messages_without_buffer_space_are_sent_later(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    task = await open_session(pipe)
    pipe.is_full = True
    pipe.hear(ended_message(1))
    await asyncio.sleep(0)
    pipe.hear(ended_message(2))
    assert pipe.to_server == []
    pipe.is_full = False
    pipe.hear(ended_message(3))
    async with asyncio.timeout(20):
        while len(pipe.to_server) < 3:
            await asyncio.sleep(0)
    assert kinds(pipe.to_server) == [("ended", 1), ("ended", 2), ("ended", 3)]
    task.cancel()


async def test_many_ends_leave_in_frames_that_the_server_accepts(tmp_path: Path) -> None:
    """The messages of a host that was offline are all waiting when it connects."""
    pipe = Pipe(tmp_path)
    report = {**REPORT, "log": "\x01" * INLINE_LOG, "lastline": "\U0001f600" * 4_000}
    pipe.hear(state(*(entry(fence, report) for fence in range(1, 301))))
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    task = asyncio.create_task(pipe.session.send_loop(pipe))
    async with asyncio.timeout(20):
        while len(pipe.to_server) < 300:
            await asyncio.sleep(0)
    task.cancel()
    assert sorted(fence for _, fence in kinds(pipe.to_server)) == list(range(1, 301))
    assert pipe.longest <= MAX_MESSAGE


async def test_the_longest_report_fits_into_a_frame_behind_others(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    long = {**REPORT, "log": "\x01" * INLINE_LOG, "lastline": "\x01" * (256 * 1024)}
    pipe.hear(state(*(entry(fence, long) for fence in range(1, 9))))
    pipe.session.open(Welcome(5, "host", 1000, 1000))
    task = asyncio.create_task(pipe.session.send_loop(pipe))
    async with asyncio.timeout(20):
        while len(pipe.to_server) < 8:
            await asyncio.sleep(0)
    task.cancel()
    assert pipe.longest <= MAX_MESSAGE
