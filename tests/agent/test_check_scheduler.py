"""The schedule of checks, and the samples that wait for the server."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from agent.connected_agent import office
from agent.webpages import site
from belvedere.agent.checks.outcome import Outcome, sanitize
from belvedere.agent.monitoring import sample_buffer, sample_journal
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.monitoring.sample_journal import SampleJournal
from belvedere.agent.monitoring.scheduler import CheckScheduler, phase
from belvedere.protocol import MonitorCheck, Samples


def monitor_config(url: str, monitor_id: str = "a" * 24, **more: Any) -> dict[str, Any]:
    config = {
        "url": url,
        "timeout": 2_000,
        "status_code": "200",
        "pattern": "",
        "json_path": "",
        "json_value": None,
        "max_ms": 0,
        "method": "GET",
        "headers": {},
        "body": "",
        "gzip": False,
        "json": False,
        "parser": "",
    }
    fields = {"id": monitor_id, "type": "scraper", "version": 1, "looptime_ms": 1_000}
    return {**fields, "config": config, **more}


def sent_samples(server: Any) -> list[dict[str, Any]]:
    batches = [message for message in server.heard if message["kind"] == "samples"]
    return [sample for batch in batches for sample in batch["samples"]]


async def test_a_monitor_is_checked_and_its_samples_are_sent(tmp_path: Path) -> None:
    async with site() as page, office(tmp_path) as (server, _):
        await server.send_messages(
            {"kind": "watch", "number": 1, "monitors": [monitor_config(page.url)]}
        )
        await server.until(lambda: len(sent_samples(server)) >= 2)
        first = sent_samples(server)[0]
        assert (first["monitor_id"], first["state"]) == ("a" * 24, "normal")
        assert first["measured"]["ms"] > 0
        numbers = [m["number"] for m in server.heard if m["kind"] == "samples"]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_the_scheduler_is_reconfigured_without_a_restart(tmp_path: Path) -> None:
    async with site() as page, office(tmp_path) as (server, _):
        await server.send_messages(
            {"kind": "watch", "number": 1, "monitors": [monitor_config(page.url)]}
        )
        await server.until(lambda: sent_samples(server))
        other = monitor_config("http://127.0.0.1:1/", version=2)
        await server.send_messages({"kind": "watch", "number": 2, "monitors": [other]})
        await server.until(lambda: sent_samples(server)[-1]["version"] == 2)
        assert sent_samples(server)[-1]["state"] == "failure"
        # An older one that arrives late changes nothing.
        await server.send_messages({"kind": "watch", "number": 1, "monitors": []})
        count = len(sent_samples(server))
        await server.until(lambda: len(sent_samples(server)) > count)


async def test_samples_of_a_cut_arrive_with_the_next_connection(tmp_path: Path) -> None:
    async with site() as page, office(tmp_path) as (server, _):
        await server.send_messages(
            {"kind": "watch", "number": 1, "monitors": [monitor_config(page.url)]}
        )
        await server.until(lambda: sent_samples(server))
        # It was never acknowledged, so everything is sent again.
        count = len(sent_samples(server))
        server.cut()
        await server.wait_connected(2)
        await server.until(lambda: len(sent_samples(server)) >= 2 * count)
        assert server.heard[-1]["kind"] in ("samples", "beat")
        batches = [m for m in server.heard if m["kind"] == "samples"]
        assert [b["number"] for b in batches].count(1) == 2


async def test_checks_of_one_monitor_never_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    running = most = 0
    done = asyncio.Event()
    rounds = 0

    async def slow(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
        nonlocal running, most, rounds
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        rounds += 1
        if rounds == 4:
            done.set()
        return Outcome("normal")

    monkeypatch.setattr("belvedere.agent.monitoring.scheduler.check_of", lambda kind: slow)
    scheduler = CheckScheduler(SampleBuffer())
    scheduler.configure([MonitorCheck("m", "scraper", 1, 20, {})])
    async with asyncio.timeout(10):
        await done.wait()
    scheduler.close()
    assert most == 1


async def test_a_kind_of_a_newer_version_is_ignored() -> None:
    scheduler = CheckScheduler(SampleBuffer())
    scheduler.configure([MonitorCheck("m", "quantum", 1, 1_000, {})])
    assert scheduler._tasks == {}


def test_phases_are_spread() -> None:
    numbers = sorted(phase(f"{n:024x}") for n in range(1_000))
    assert max(b - a for a, b in zip(numbers, numbers[1:], strict=False)) < 0.02
    assert phase("a") == phase("a")


def test_a_buffer_is_bounded_and_counts_dropped_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_buffer, "MAX_SAMPLES", 10)
    buffer = SampleBuffer()
    for n in range(25):
        buffer.add(str(n), 1, Outcome("normal"))
    batch = buffer.next()
    assert batch is not None
    assert [sample.monitor_id for sample in batch.samples] == [str(n) for n in range(15, 25)]
    assert batch.dropped == 15


def test_batches_are_sent_again_until_they_are_acknowledged() -> None:
    now = 0.0
    buffer = SampleBuffer(lambda: now)
    buffer.add("a", 1, Outcome("normal"))
    first = buffer.next()
    assert first is not None and buffer.next() is None
    now = 5.0
    buffer.reopen()
    again = buffer.next()
    assert again is not None
    assert (again.number, again.samples[0].ago_ms) == (first.number, 5_000)
    buffer.acknowledge("another stream", 99)
    assert len(buffer) == 1
    buffer.acknowledge(buffer.stream, again.number)
    assert len(buffer) == 0
    buffer.reopen()
    assert buffer.next() is None


def test_no_more_is_on_its_way_than_may_be() -> None:
    buffer = SampleBuffer()
    for n in range(2_000):
        buffer.add(str(n), 1, Outcome("normal"))
    samples = [buffer.next() for _ in range(10)]
    assert [item.number for item in samples if item] == [1, 2, 3, 4]
    buffer.acknowledge(buffer.stream, 2)
    assert [item.number for item in (buffer.next(), buffer.next(), buffer.next()) if item] == [5, 6]


class Restarts:
    """Buffers one after the other on the same journal, each with its own clock."""

    def __init__(self, path: Path) -> None:
        self.path, self.wall = path, 1_000_000.0

    def buffer(self) -> SampleBuffer:
        start = self.wall
        return SampleBuffer(
            lambda: self.wall - start, SampleJournal(str(self.path)), lambda: self.wall
        )


def batch_summary(batch: Samples | None) -> tuple[int, list[str], int]:
    assert batch is not None
    return batch.number, [sample.monitor_id for sample in batch.samples], batch.dropped


def test_samples_survive_a_restart(tmp_path: Path) -> None:
    of = Restarts(tmp_path / "samples")
    before = of.buffer()
    before.add("noted", 1, Outcome("normal"))
    assert before.next() is not None
    before.acknowledge(before.stream, 1)
    before.add("on its way", 1, Outcome("failure", "x", "y", {"a": [1]}, {"ms": 1.5}))
    assert batch_summary(before.next()) == (2, ["on its way"], 0)
    before.add("fresh", 2, Outcome("normal"))
    of.wall += 60
    after = of.buffer()
    assert (after.stream, len(after)) == (before.stream, 2)
    again = after.next()
    assert batch_summary(again) == (2, ["on its way"], 0)
    assert again is not None and again.samples[0].ago_ms == 60_000
    assert (again.samples[0].data, again.samples[0].measured) == ({"a": [1]}, {"ms": 1.5})
    assert batch_summary(after.next()) == (3, ["fresh"], 0)
    after.acknowledge(after.stream, 3)
    last = of.buffer()
    assert (len(last), last.next()) == (0, None)
    last.add("new", 1, Outcome("normal"))
    assert batch_summary(last.next()) == (4, ["new"], 0)


def test_a_journal_can_be_read_after_every_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the agent is killed, the next one has everything that this one had."""
    monkeypatch.setattr(sample_buffer, "MAX_SAMPLES", 12)
    monkeypatch.setattr(sample_buffer, "BATCH_SIZE", 3)
    of = Restarts(tmp_path / "samples")
    dice, live = random.Random(7), of.buffer()
    for n in range(400):
        match dice.randrange(4):
            case 0 | 1:
                live.add(str(n), 1, Outcome("normal"))
            case 2:
                live.next()
            case 3:
                live.acknowledge(live.stream, live._number - dice.randrange(3))
        if dice.randrange(10) == 0:
            actual_sample_buffer, live = live, of.buffer()
            assert (live.stream, live._number, live._dropped) == (
                actual_sample_buffer.stream,
                actual_sample_buffer._number,
                actual_sample_buffer._dropped,
            )
            for value, theirs in (
                (live._unbatched, actual_sample_buffer._unbatched),
                (live._open, actual_sample_buffer._open),
            ):
                assert len(value) == len(theirs)
            assert [s.monitor_id for _, s in live._unbatched] == [
                s.monitor_id for _, s in actual_sample_buffer._unbatched
            ]


def test_a_truncated_journal_counts_up_to_its_end(tmp_path: Path) -> None:
    of = Restarts(tmp_path / "samples")
    before = of.buffer()
    for name in ("a", "b"):
        before.add(name, 1, Outcome("normal"))
    of.path.write_bytes(of.path.read_bytes()[:-5])
    assert batch_summary(of.buffer().next()) == (1, ["a"], 0)
    of.path.write_text('{"stream": 1, "number": 0}\n[]\n{"sample": {}}\n')
    assert len(of.buffer()) == 0


def test_a_journal_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_journal, "MAX_GROWTH", 2_000)
    of = Restarts(tmp_path / "samples")
    buffer = of.buffer()
    for n in range(200):
        buffer.add(str(n), 1, Outcome("normal"))
        buffer.next()
        buffer.acknowledge(buffer.stream, n + 1)
    assert of.path.stat().st_size < 5_000
    monkeypatch.setattr(sample_journal, "MAX_SIZE", 10_000)
    for n in range(200):
        buffer.add(str(n), 1, Outcome("normal"))
    # No journal is better than one that ends in the middle.
    assert not of.path.exists() and len(buffer) == 200


async def test_results_from_while_it_was_offline_outlive_the_agent(tmp_path: Path) -> None:
    async with site() as page, office(tmp_path) as (server, agency):
        await server.send_messages(
            {"kind": "watch", "number": 1, "monitors": [monitor_config(page.url)]}
        )
        await server.until(lambda: sent_samples(server))
        first = next(m for m in server.heard if m["kind"] == "samples")
        agency.kill()
        agency.start()
        await server.wait_connected(2)
        await server.until(
            lambda: (
                [m["stream"] for m in server.heard if m["kind"] == "samples"][-1:]
                and [m["number"] for m in server.heard if m["kind"] == "samples"].count(1) >= 2
            )
        )
        again = [m for m in server.heard if m["kind"] == "samples" and m["number"] == 1][-1]
        assert again["stream"] == first["stream"]


async def test_a_removed_monitor_ends_even_where_its_check_fails_on_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = asyncio.Event()

    async def stubborn(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("the keeper is gone")

    monkeypatch.setattr("belvedere.agent.monitoring.scheduler.check_of", lambda kind: stubborn)
    buffer = SampleBuffer()
    scheduler = CheckScheduler(buffer)
    scheduler.configure([MonitorCheck("m", "scraper", 1, 20, {})])
    async with asyncio.timeout(10):
        await begun.wait()
        [(_, task)] = scheduler._tasks.values()
        scheduler.configure([])
        await asyncio.wait([task])
    assert isinstance(task.exception(), RuntimeError)
    assert len(buffer) == 0


DEEP: Any = []
for _ in range(600):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"a": [1, None, "\u00fc"]}, True),
        ({"a": "\ud800"}, False),
        ({"\ud800": 1}, False),
        ({"a": float("nan")}, False),
        ({"a": float("inf")}, False),
        ({"a": DEEP}, False),
        ({"a": "x" * 70_000}, False),
        ({"a": {1, 2}}, False),
    ],
)
def test_results_that_cannot_be_stored_are_left_out(
    data: dict[str, Any], kept: bool, tmp_path: Path
) -> None:
    outcome = sanitize(Outcome("normal", "e\ud800", "m\0", data, {"ms": 1.0, "no": float("nan")}))
    assert (outcome.event, outcome.message) == ("e\ufffd\ufffd\ufffd", "m\ufffd")
    assert outcome.measured == {"ms": 1.0}
    assert outcome.data == (data if kept else {})
    path = str(tmp_path / "samples")
    SampleBuffer(journal=SampleJournal(path)).add("m", 1, outcome)
    assert len(SampleBuffer(journal=SampleJournal(path))) == 1
