"""A server as `belvedere server` builds it. Other tests build theirs with the clock of the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
from belvedere.base.clock import SharedClock
from belvedere.server import wiring
from belvedere.server.runtime import ServerRuntime
from belvedere.settings import Settings


@pytest.fixture
def runtime(engine: str, database_url: str, tmp_path: Path) -> Iterator[ServerRuntime]:
    database = database_url if engine == "postgres" else ""
    runtime = wiring.build(Settings(data=str(tmp_path / "data"), database=database))
    yield runtime
    engines.close(runtime.db)
    if runtime.logs is not runtime.db:
        engines.close(runtime.logs)


def test_everything_follows_one_clock_that_notices_steps(runtime: ServerRuntime) -> None:
    """With the wall clock, schedules and deadlines would move whenever the clock is set."""
    assert isinstance(runtime.db.clock, SharedClock)
    assert runtime.logs.clock is runtime.clock is runtime.db.clock
