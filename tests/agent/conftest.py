"""Fixtures of the agent's tests."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from agent.keeper_process import KeeperHarness


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    """A separate agent uses asyncio's own loop; the one inside `belvedere up` uses the server's."""
    param: Callable[[], asyncio.AbstractEventLoop] = request.param
    return param


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[KeeperHarness]:
    """A keeper with an agent that has sent its hello; nothing of it remains after the test."""
    keeper_harness = KeeperHarness(tmp_path / "state")
    try:
        keeper_harness.connect()
        yield keeper_harness
    finally:
        keeper_harness.end()
