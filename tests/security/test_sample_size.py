"""Samples of a hostile agent are counted in bytes, and those of a large honest batch are stored."""

import asyncio
import json
from typing import Any

import pytest

from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.monitoring.sample_buffer import BATCH_BYTES, BATCH_SIZE, SampleBuffer
from belvedere.monitors.evaluation import samples
from belvedere.protocol import Sample, Samples, SamplesAck
from belvedere.server.agents import message_limits
from contract.world import World

# Nothing of this reaches the engine.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
WORD = "x" * 100_000


def sample(**fields: Any) -> Sample:
    return Sample(**{"monitor_id": "m", "version": 1, "ago_ms": 0, "state": "normal", **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"monitor_id": WORD},
        {"event": WORD},
        {"message": WORD},
        {"data": {"a": WORD}},
        {"data": {"a": [1] * 15_000}},
        {"measured": {f"{WORD}{n}": 1.0 for n in range(3)}},
        {"measured": {f"a{n}": 1.0 for n in range(20_000)}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_the_text_of_a_sample_is_cut_before_it_is_queued(
    engine: str, fields: dict[str, Any]
) -> None:
    batch = Samples("s" * 10_000, 1, [sample(**fields) for _ in range(100)])
    size = message_limits.check_samples(batch)
    text = json.dumps([vars_of(item) for item in batch.samples], separators=(",", ":"))
    assert len(text) <= size + 100 * len(batch.samples)
    assert size <= message_limits.MAX_DATA + 100 * 7_000
    assert len(batch.stream) == message_limits.MAX_WORD


def vars_of(first_sample: Sample) -> dict[str, Any]:
    return {name: getattr(first_sample, name) for name in first_sample.__slots__}


def test_states_are_stored_if_the_data_is_too_large(engine: str) -> None:
    large = {"a": "x" * (samples.MAX_DATA - 100)}
    batch = Samples("s", 1, [sample(state="failure", data=dict(large)) for _ in range(200)])
    message_limits.check_samples(batch)
    full = [item for item in batch.samples if item.data]
    assert len(full) == message_limits.MAX_DATA // len(json.dumps(large, separators=(",", ":")))
    assert {item.state for item in batch.samples} == {"failure"}


async def test_samples_that_wait_are_limited_in_bytes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is busy; everything that the agent sends in the meantime is kept in memory."""
    write, gate = world.runtime.db.write, asyncio.Event()

    async def slow(verb: Any, *args: Any, **more: Any) -> Any:
        if verb is samples.record_batches:
            await gate.wait()
        return await write(verb, *args, **more)

    monkeypatch.setattr(world.runtime.db, "write", slow)
    monkeypatch.setattr("belvedere.server.agents.monitor_sync.MAX_WAITING", 1 << 20)
    batch = [sample(message="x" * 1_000)] * message_limits.MAX_SAMPLES
    async with world.agent() as agent:
        await agent.send_messages(Samples("s", 1, batch[:10]))
        await agent.send_messages(Samples("s", 2, batch))
        assert await agent.hangs_up() == 4400
        assert agent.closed is not None and "bytes of samples" in agent.closed[1]
        gate.set()


@pytest.mark.parametrize("value", ["1", "[]", "{}", '"a"'])
async def test_a_frame_of_many_values_is_refused_before_decoding(
    world: World, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    items: list[Any] = []
    decode = "belvedere.server.agents.message_limits.decode"
    many = ",".join([value] * (message_limits.MAX_VALUES + 1))
    async with world.agent() as agent:
        monkeypatch.setattr(decode, items.append)
        await agent.text(f'[{{"kind":"samples","samples":[{{"data":{{"a":[{many}]}}}}]}}]')
        assert await agent.hangs_up() == 4400
    assert items == []


async def test_a_large_frame_of_few_values_is_accepted(world: World) -> None:
    batch = [sample(message="," * 100_000) for _ in range(10)]
    async with world.agent() as agent:
        await agent.send_messages(Samples("s", 1, batch))
        assert (await agent.hear(SamplesAck)).number == 1


def test_an_agent_sends_batches_that_fit_into_a_frame(engine: str) -> None:
    buffer = SampleBuffer()
    large = {"a": "x" * 60_000}
    for n in range(BATCH_SIZE):
        buffer.add("m", 1, Outcome("normal", data=dict(large) if n < 20 else {}))
    batches = []
    while (batch := buffer.next()) is not None:
        batches.append(batch)
    sizes = [sum(len(json.dumps(item.data)) for item in batch.samples) for batch in batches]
    assert max(sizes) <= BATCH_BYTES + 100 * BATCH_SIZE
    assert sum(len(batch.samples) for batch in batches) == BATCH_SIZE
