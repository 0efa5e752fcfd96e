"""Simulations by seed: the real server and the real agent together, with faults."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim import patches
from sim.scenario import run_seed
from sim.world import SECOND

QUICK, CHUNK = 150, 25
LONG, LONG_CHUNK = int(os.environ.get("STORY_SEEDS", "50000")), 250


@pytest.fixture(autouse=True)
def installed_patches() -> Iterator[None]:
    with patches.install():
        yield


def violations(first: int, count: int) -> list[str]:
    """What these seeds found; each line names its seed: `run_seed(seed, verbose=True).story`."""
    return [line for seed in range(first, first + count) for line in run_seed(seed).violations]


def test_a_story_ends_without_violations() -> None:
    world = run_seed(1)
    assert world.violations == []
    assert world.counts["healed"] == 1
    assert world.now > 60 * SECOND


@pytest.mark.limit(240)
@pytest.mark.parametrize("first", range(0, QUICK, CHUNK))
def test_every_promise_holds_in_every_story(first: int) -> None:
    assert violations(first, CHUNK) == []


@pytest.mark.prove
@pytest.mark.limit(3_600)
@pytest.mark.parametrize("first", range(1_000, 1_000 + LONG, LONG_CHUNK))
def test_every_promise_holds_in_fifty_thousand_stories(first: int) -> None:
    assert violations(first, min(LONG_CHUNK, 1_000 + LONG - first)) == []


def test_one_seed_gives_one_run() -> None:
    for seed in range(5):
        assert run_seed(seed).digest == run_seed(seed).digest
    assert len({run_seed(seed).digest for seed in range(5)}) == 5


SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:]
from sim import patches
from sim.scenario import run_seed
with patches.install():
    print([run_seed(seed).digest for seed in (3, 4, 5, 6)])
"""


def test_one_seed_gives_one_run_in_every_process() -> None:
    """Otherwise a seed that failed elsewhere would prove nothing here."""
    tests = Path(__file__).parent.parent
    result = set()
    for hash_seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tests)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        result.add(done.stdout)
    assert len(result) == 1, result


def test_the_stories_contain_every_kind_of_fault() -> None:
    """A simulator without effective faults would find nothing either."""
    fields: dict[str, int] = {}
    for seed in range(60):
        for word, count in run_seed(seed).counts.items():
            fields[word] = fields.get(word, 0) + count
    expected = (
        *("agent_died_at", "cancel", "clock_jump", "created", "cut", "cut_off"),
        *("died_after_commit", "ended", "journal_lost", "keeper_killed", "killed", "pause"),
        *("rebooted", "reconnected", "rolled_back", "spawned", "vanished"),
        *("agent_upgraded", "restored", "upgraded"),
    )
    assert {word: fields.get(word, 0) for word in expected if fields.get(word, 0) < 3} == {}
