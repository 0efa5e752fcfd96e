"""How often results of checks are sent: changes soon, unchanged ones together."""

import asyncio
from pathlib import Path

from agent.test_session import Pipe
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.connection.session import SAMPLE_DELAY_S, UNCHANGED_SAMPLE_DELAY_S
from belvedere.agent.monitoring.sample_buffer import SampleBuffer

NORMAL, FAILURE = Outcome("normal"), Outcome("failure")


def test_the_listener_is_told_whether_a_result_is_new() -> None:
    buffer = SampleBuffer()
    changes: list[bool] = []
    buffer.listener = changes.append
    for monitor_id, version, outcome in (
        *(("a", 1, NORMAL), ("a", 1, NORMAL), ("b", 1, NORMAL)),
        *(("a", 1, FAILURE), ("a", 1, FAILURE), ("a", 2, FAILURE)),
        *(("b", 1, Outcome("changed")), ("b", 1, Outcome("changed"))),
    ):
        buffer.add(monitor_id, version, outcome)
    assert changes == [True, False, True, True, False, True, True, True]


async def test_a_hundred_unchanged_results_wait_for_one_batch(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    session, buffer, now = pipe.session, pipe.session._samples, asyncio.get_running_loop().time()
    buffer.add("m", 1, NORMAL)
    buffer.listener = session._schedule_samples
    wake_ups = set()
    for _ in range(100):
        buffer.add("m", 1, NORMAL)
        assert session._samples_timer is not None
        wake_ups.add(session._samples_timer.when())
    assert len(wake_ups) == 1
    assert min(wake_ups) >= now + UNCHANGED_SAMPLE_DELAY_S
    # A change does not wait for it.
    buffer.add("m", 1, FAILURE)
    assert session._samples_timer is not None
    assert session._samples_timer.when() < now + UNCHANGED_SAMPLE_DELAY_S
    assert session._samples_timer.when() >= now + SAMPLE_DELAY_S
    session._flush_samples()
    batch = buffer.next()
    assert batch is not None and len(batch.samples) == 102
    session.close()
