"""Searching for patterns without blocking the event loop."""

import asyncio
import random

import pytest

from belvedere.base.text.regex import compile_pattern
from belvedere.base.text.search import CooperativeSearch, PatternSearch

TEXTS = ["", "b", "ab", "xx ab", "a" * 300 + "b", "ba " * 500, "a\nb", "x" * 1_000 + "ab"]


@pytest.mark.parametrize("pattern", ["ab", "a+b$", "^a", r"\bb", "a.{40}b", "^$", "(a|b)*c"])
async def test_a_search_in_steps_finds_the_same_as_a_single_search(pattern: str) -> None:
    """Also in the second text, after it has learned from the first."""
    search = CooperativeSearch(compile_pattern(pattern))
    assert [await search.contains_match(text) for text in TEXTS] == [
        PatternSearch(compile_pattern(pattern)).feed(text, last=True) for text in TEXTS
    ]


async def test_an_expensive_pattern_lets_others_run_and_can_be_stopped() -> None:
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
            await CooperativeSearch(compile_pattern("(.*a){8}.{90}c")).contains_match(text)
    busy.cancel()
    assert turns > 3
