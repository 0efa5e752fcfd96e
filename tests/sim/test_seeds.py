"""Stories from seeds: whatever breaks, every promise about jobs holds."""

import pytest

from sim import patches, story

STEP = 25


def violations(seeds: range) -> list[str]:
    with patches.installed():
        return [said for seed in seeds for said in story.tell(seed).violations]


def test_it_works() -> None:
    with patches.installed():
        assert story.tell(1).violations == []


def test_one_seed_tells_the_same_story_twice() -> None:
    with patches.installed():
        assert story.tell(7).digest == story.tell(7).digest


@pytest.mark.limit(120)
@pytest.mark.parametrize("first", range(0, 300, STEP))
def test_no_promise_is_broken_in_three_hundred_stories(first: int) -> None:
    assert violations(range(first, first + STEP)) == []


@pytest.mark.prove
@pytest.mark.limit(600)
@pytest.mark.parametrize("first", range(1_000, 11_000, 100))
def test_no_promise_is_broken_in_ten_thousand_stories(first: int) -> None:
    assert violations(range(first, first + 100)) == []
