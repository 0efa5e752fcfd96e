"""Fixtures of the agent's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.keeping import Keeping


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Keeping]:
    """A keeper with an agent that has said hello; nothing of it stays."""
    made = Keeping(tmp_path / "state")
    try:
        made.connect()
        yield made
    finally:
        made.end()
