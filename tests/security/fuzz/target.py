"""One target, and the loop that gives it examples until its time has passed."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any

import hypothesis
from hypothesis.strategies import SearchStrategy

# Examples of one seed.
ROUND = 500


@dataclass(frozen=True)
class Target:
    """`check` asserts every property of one example; it raises for nothing else."""

    name: str
    examples: SearchStrategy[Any]
    check: Callable[[Any], None]


def fuzz(target: Target, seconds: float, first_seed: int = 0) -> int:
    """Rounds of examples, one seed after the other, as many as possible; how many were started."""
    end = monotonic() + seconds
    for seed in count(first_seed):
        _round(target, seed, end)
        if monotonic() >= end:
            return seed - first_seed + 1
    raise AssertionError("never")


def _round(target: Target, seed: int, end: float) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=ROUND,
        deadline=None,
        derandomize=False,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=True,
    )
    @hypothesis.given(target.examples)
    def examples(value: Any) -> None:
        # Also while a failing example is shrunk: examples after the end are not checked.
        if monotonic() < end:
            target.check(value)

    examples()
