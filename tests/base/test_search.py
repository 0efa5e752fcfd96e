"""A pattern anywhere in a text, against the standard engine."""

import re

from hypothesis import given
from hypothesis import strategies as st

from belvedere.base.text.regex import compile_pattern
from belvedere.base.text.search import PatternSearch

PATTERNS = (
    "ab",
    "a.c",
    "^a",
    "c$",
    r"\bab\b",
    "(a|b)+c",
    "a{2,3}",
    "x?",
    "",
    "[^a]b",
    "(?i)AB",
    r"\s",
)


def contains(pattern: str, text: str) -> bool:
    return PatternSearch(compile_pattern(pattern)).feed(text, last=True)


def test_a_pattern_is_found_in_a_text() -> None:
    assert contains("all is (well|fine)", "<p>all is fine</p>")
    assert not contains("all is (well|fine)", "<p>all is lost</p>")


@given(
    st.sampled_from(PATTERNS), st.text("abcxAB \n", max_size=30), st.integers(1, 5), st.booleans()
)
def test_the_search_finds_the_same_as_the_standard_engine(
    pattern: str, text: str, size: int, whole: bool
) -> None:
    if pattern.endswith("$") and text.endswith("\n"):
        # Our end is the end of the text; the standard one also matches before a last line break.
        return
    expected = re.search(pattern, text) is not None
    if whole:
        assert contains(pattern, text) == expected
        return
    search = PatternSearch(compile_pattern(pattern))
    for start in range(0, len(text), size):
        search.feed(text[start : start + size])
    assert search.feed("", last=True) == expected


def test_a_pattern_that_would_keep_the_standard_engine_busy_for_years() -> None:
    assert not contains("(a+)+b", "a" * 200_000)
