"""A pattern anywhere in a text, against the standard engine."""

import re

from hypothesis import given
from hypothesis import strategies as st

from belvedere.base.text.regex import compiled
from belvedere.base.text.search import Search, found

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


def test_it_works() -> None:
    assert found(compiled("all is (well|fine)"), "<p>all is fine</p>")
    assert not found(compiled("all is (well|fine)"), "<p>all is lost</p>")


@given(
    st.sampled_from(PATTERNS), st.text("abcxAB \n", max_size=30), st.integers(1, 5), st.booleans()
)
def test_it_finds_what_the_standard_engine_finds(
    pattern: str, text: str, size: int, whole: bool
) -> None:
    if pattern.endswith("$") and text.endswith("\n"):
        # Our end is the very end; the standard one also stands before a last line break.
        return
    expected = re.search(pattern, text) is not None
    if whole:
        assert found(compiled(pattern), text) == expected
        return
    search = Search(compiled(pattern))
    for start in range(0, len(text), size):
        search.feed(text[start : start + size])
    assert search.feed("", last=True) == expected


def test_a_pattern_that_would_keep_the_standard_engine_busy_for_years() -> None:
    assert not found(compiled("(a+)+b"), "a" * 200_000)
