"""Generated input for every parser that anonymous clients and members reach:
docs/contributing/fuzzing.md.

Each target has its few seconds in `make test`, always with the same seeds, and minutes of other
seeds in `make prove`.
"""

import os
import random

import pytest

from security.fuzz import inside, wire
from security.fuzz.target import Target, fuzz

TARGETS = [*wire.TARGETS, *inside.TARGETS]
SHORT_S, LONG_S = 5.0, 300.0


@pytest.mark.parametrize("target", TARGETS, ids=[item.name for item in TARGETS])
def test_a_target_keeps_its_properties(target: Target) -> None:
    assert fuzz(target, float(os.environ.get("FUZZ_S", SHORT_S))) > 0


@pytest.mark.prove
@pytest.mark.limit(LONG_S + 120)
@pytest.mark.parametrize("target", TARGETS, ids=[item.name for item in TARGETS])
def test_a_target_keeps_its_properties_for_long(target: Target) -> None:
    seed = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(1 << 31)))
    print(f"FUZZ_SEED={seed}")
    assert fuzz(target, float(os.environ.get("FUZZ_S", LONG_S)), seed) > 0
