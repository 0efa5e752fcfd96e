"""A keeper and an agent whose disk cannot be written: output stays in memory, up to a limit, and
reaches the server; dropped output leaves a gap in the right place."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.connected_agent import office
from agent.keeper_process import KeeperHarness, Message
from belvedere.agent.output import spool
from belvedere.agent.output.memory_buffer import (
    MAX_HELD,
    MAX_HELD_TOTAL,
    MemoryBudget,
    MemoryBuffer,
    OutputPiece,
    unpack,
)
from belvedere.agent.output.spool import MAX_PARTS, Spool, SpoolPosition
from belvedere.agent.output.upload import OutputUpload
from belvedere.protocol import AttemptEnded, Report, unpack_output

# Waits for the test, writes, waits again, writes, and ends.
SCRIPT = (
    '#!/bin/bash\nwait_for() { while [ ! -e "$1" ]; do sleep 0.01; done; }\n'
    'wait_for "$1/one"\nprintf "%s" "$2"\nwait_for "$1/two"\nprintf "%s" "$3"\n'
)
FREE = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@contextlib.contextmanager
def full_disk(pid: int, size: int = 0) -> Iterator[None]:
    """No file can grow beyond `size` bytes: the same as a full disk, without the permission to
    mount."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, FREE)


def pieces_of(keeper: KeeperHarness, fence: int) -> list[OutputPiece]:
    items = [m for m in keeper.heard if m["say"] == "output" and m["fence"] == fence]
    return [piece for message in items for piece in unpack(message.get("held", []))]


def is_output(fence: int, total: int) -> Callable[[Message], bool]:
    def check(message: Message) -> bool:
        is_of_fence = message["say"] == "output" and message["fence"] == fence
        return bool(is_of_fence and message["total"] >= total)

    return check


def test_small_output_with_a_full_disk_reaches_the_agent(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    fence = keeper.order(SCRIPT, str(tmp_path), "first\n", "second\n")
    keeper.wait(lambda m: m["say"] == "started")
    with full_disk(keeper.pid):
        (tmp_path / "one").touch()
        keeper.wait(is_output(fence, 6))
        (tmp_path / "two").touch()
        report = keeper.report(fence)
        assert (report["ending"], report["code"], report["bytes_total"]) == ("exit", 0, 13)
        output_pieces = pieces_of(keeper, fence)
        assert [(p.at, p.line, p.data) for p in output_pieces] == [
            (0, 0, b"first\n"),
            (6, 1, b"second\n"),
        ]
        # An agent that reconnects gets all of it, until the server has it.
        [entry] = keeper.connect()["entries"]
        assert [p.data for p in unpack(entry["held"])] == [b"first\n", b"second\n"]
        keeper.send_messages(do="kept", fence=fence, offset=6)
        [entry] = keeper.hello()["entries"]
        assert [p.data for p in unpack(entry["held"])] == [b"second\n"]


def test_output_after_the_disk_has_space_again_is_written(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    lost, later = "x" * (MAX_HELD + 1000), "a later line\n"
    fence = keeper.order(SCRIPT, str(tmp_path), lost, later)
    keeper.wait(lambda m: m["say"] == "started")
    with full_disk(keeper.pid):
        (tmp_path / "one").touch()
        keeper.wait(is_output(fence, len(lost)))
    (tmp_path / "two").touch()
    report = keeper.report(fence)
    assert report["bytes_total"] == len(lost) + len(later)
    output_pieces = pieces_of(keeper, fence)
    assert b"".join(piece.data for piece in output_pieces) == b"x" * MAX_HELD
    place = SpoolPosition(MAX_HELD, -1)
    assert (
        spool.read(keeper.folder.spool, fence, place, report["bytes_total"], 99) == later.encode()
    )
    assert (place.offset, place.line) == (len(lost), 0)


def test_a_file_system_without_space_loses_no_small_output(tmp_path: Path) -> None:
    """The same with a real file system, where this user may mount one."""
    state = tmp_path / "state"
    state.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(state)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False).returncode != 0:
        pytest.skip("This user cannot mount a file system; the tests above use a file size limit.")
    keeper = KeeperHarness(state)
    try:
        keeper.connect()
        fence = keeper.order(SCRIPT, str(tmp_path), "first\n", "y" * 30_000)
        keeper.wait(lambda m: m["say"] == "started")
        with contextlib.suppress(OSError), open(state / "filler", "wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        (tmp_path / "one").touch()
        keeper.wait(is_output(fence, 6))
        (tmp_path / "two").touch()
        assert keeper.report(fence)["bytes_total"] == 30_006
        assert (
            b"".join(piece.data for piece in pieces_of(keeper, fence)) == b"first\n" + b"y" * 30_000
        )
    finally:
        keeper.end()
        subprocess.run(["umount", "-l", str(state)], check=True)


async def test_the_server_gets_small_output_of_a_full_disk(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order(SCRIPT, str(tmp_path), "first\n", "second\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        [keeper] = agency.keepers()
        with full_disk(keeper):
            (tmp_path / "one").touch()
            await server.until(lambda: bytes(server.output.get(fence, b"")) == b"first\n")
            (tmp_path / "two").touch()
            report = await server.end(fence)
        assert (report["ending"], report["bytes_total"]) == ("exit", 13)
        assert await server.log(fence) == "first\nsecond\n"


def test_memory_is_bounded_for_one_script_and_for_all() -> None:
    budget = MemoryBudget()
    memory_buffers = [MemoryBuffer(budget) for _ in range(MAX_HELD_TOTAL // MAX_HELD + 2)]
    for item in memory_buffers:
        item.add(0, 0, b"x" * 2 * MAX_HELD)
    assert [len(piece.data) for piece in memory_buffers[0].pieces] == [MAX_HELD]
    assert (budget.available, memory_buffers[-1].pieces) == (0, [])
    memory_buffers[0].drop_below(MAX_HELD)
    memory_buffers[1].clear()
    assert budget.available == 2 * MAX_HELD


def test_a_disk_that_fills_in_the_middle_of_a_line_leaves_one_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_spool = Spool(str(tmp_path), 7, budget=MemoryBudget(4))
    real = os.write
    remaining = [100]

    def write(fd: int, data: bytes | memoryview) -> int:
        size = min(len(data), remaining[0])
        if size == 0:
            raise OSError(28, "No space left on device")
        remaining[0] -= size
        return real(fd, data[:size])

    monkeypatch.setattr(os, "write", write)
    remaining[0] = spool.HEAD + 9
    new_spool.write(b"one\ntwo\nthree\nfour\n", 0)
    remaining[0] = 100
    new_spool.write(b"five\nsix\n", 4)
    new_spool.close()
    streams = OutputUpload(str(tmp_path))
    streams.credit = 1000
    streams.hold(7, unpack(new_spool.memory.new_pieces()))
    streams.end(7, Report("exit", bytes_total=28))
    frames = []
    while not isinstance(actual_data := streams.next(), AttemptEnded):
        assert actual_data is not None
        frames.append(unpack_output(actual_data)[1:])
    assert frames == [(0, 0, b"one\ntwo\nt"), (9, 2, b"hree"), (19, 4, b"five\nsix\n")]


def test_a_disk_that_is_full_again_and_again_makes_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_spool = Spool(str(tmp_path), 7)
    real = os.write
    calls = [0]

    def write(fd: int, data: bytes | memoryview) -> int:
        calls[0] += len(data) != spool.HEAD
        if len(data) != spool.HEAD and calls[0] % 2:
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    for number in range(4 * MAX_PARTS):
        new_spool.write(b"some output\n", number)
    assert len(list((tmp_path / "7").iterdir())) <= MAX_PARTS
    assert new_spool.end == 12 * 4 * MAX_PARTS


async def test_an_agent_with_too_little_space_starts_nothing(tmp_path: Path) -> None:
    async with office(tmp_path, BELVEDERE_MIN_FREE_BYTES=str(10**17)) as (server, _):
        assert "bytes free" in server.hellos[0]["disk"]
        fence = await server.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        report = await server.end(fence)
        assert (report["ending"], report["reason"]) == ("error", "disk_full")
        assert not (tmp_path / "ran").exists()


async def test_an_order_that_the_journal_cannot_take_is_returned(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        await server.end(await server.order("#!/bin/sh\n"))
        [keeper] = agency.keepers()
        with full_disk(keeper, 16):
            fence = await server.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            report = await server.end(fence)
            assert (report["ending"], report["reason"]) == ("error", "disk_full")
        items = [m for m in server.heard if m["kind"] in ("beat", "ended")]
        place = next(n for n, m in enumerate(items) if m["kind"] == "ended" and m["fence"] == fence)
        # Before the end, so that the server does not send the same job again at once.
        assert "journal" in items[place - 1]["disk"]
        await server.until(lambda: server.heard[-1].get("disk") == "")
        assert (await server.end(await server.order("#!/bin/sh\nexit 4\n")))["code"] == 4
        assert not (tmp_path / "ran").exists()


def test_a_hello_whose_number_is_not_durable_says_so(keeper: KeeperHarness) -> None:
    assert keeper.state["is_saved"] is True
    with full_disk(keeper.pid, 16):
        assert keeper.hello()["is_saved"] is False
    assert keeper.hello()["is_saved"] is True
