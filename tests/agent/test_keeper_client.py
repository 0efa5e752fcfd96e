"""Messages to a keeper that has ended."""

from pathlib import Path

import pytest

from belvedere.agent import state_folder
from belvedere.agent.keeper_client import connect_keeper

pytestmark = pytest.mark.usefixtures("loop_factory")


async def test_a_crashed_keeper_accepts_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    keeper = await connect_keeper(state_folder.prepare(str(tmp_path)))
    assert keeper.process is not None
    keeper.process.kill()
    await keeper.lost.wait()
    for _ in range(2):
        keeper.send({"do": "uncheck", "number": 1})
        keeper.flush()
    keeper.send({"do": "uncheck", "number": 1})
    keeper.close()
    await keeper.collect()
    assert keeper.process.returncode == -9
