"""Looking for patterns in turns with everybody else."""

import asyncio
import random

import pytest

from belvedere.base.text.regex import compiled
from belvedere.base.text.search import found
from belvedere.base.text.seeker import Seeker

TEXTS = ["", "b", "ab", "xx ab", "a" * 300 + "b", "ba " * 500, "a\nb", "x" * 1_000 + "ab"]


@pytest.mark.parametrize("pattern", ["ab", "a+b$", "^a", r"\bb", "a.{40}b", "^$", "(a|b)*c"])
async def test_it_finds_what_a_single_look_finds(pattern: str) -> None:
    """Also in the second text, after what it learned from the first."""
    seeker = Seeker(compiled(pattern))
    assert [await seeker.finds(text) for text in TEXTS] == [
        found(compiled(pattern), text) for text in TEXTS
    ]


async def test_a_dear_pattern_lets_others_work_and_can_be_ended() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    busy = asyncio.create_task(others())
    text = "".join(random.Random(1).choices("ab", k=400_000))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await Seeker(compiled("(.*a){8}.{90}c")).finds(text)
    busy.cancel()
    assert turns > 3
