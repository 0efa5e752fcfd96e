"""Regular expressions of definitions: the same results as the standard engine, in linear time."""

import re
import time

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import Invalid
from belvedere.base.text.regex import MAX_TEXT, Pattern, compile_pattern


def test_a_pattern_must_match_the_whole_text() -> None:
    assert compile_pattern(r"[A-Z]{2}-\d+").matches("AB-12")
    assert not compile_pattern(r"[A-Z]{2}-\d+").matches("AB-12 ")


atoms = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "[ab]",
        "[^a]",
        r"\d",
        r"\w",
        r"\s",
        r"\W",
        "[a-c1]",
        "^",
        "$",
        r"\b",
        r"\B",
        "é",
    ]
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@hypothesis.settings(max_examples=400)
@hypothesis.given(pattern=patterns, flags=st.sampled_from(["", "(?i)", "(?s)"]), data=st.data())
def test_results_equal_those_of_the_standard_engine(
    pattern: str, flags: str, data: st.DataObject
) -> None:
    text = data.draw(st.text("abAB1 é\n_", max_size=8))
    # According to Python \\B does not hold in an empty text; this changed in version 3.14.
    hypothesis.assume(text != "" or r"\B" not in pattern)
    expected = re.fullmatch(flags + pattern, text) is not None
    assert Pattern(flags + pattern).matches(text) is expected


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+", "(a|a?)+", "(.*a){12}"])
def test_no_pattern_is_slow(pattern: str) -> None:
    began = time.perf_counter()
    compile_pattern(pattern).matches("a" * (MAX_TEXT - 1) + "b")
    assert time.perf_counter() - began < 30


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[",
        "*",
        "(?=a)",
        "(?<!a)b",
        r"(a)\1",
        "(?(1)a|b)",
        "(?m)a",
        "(?i:a)",
        "a{1000}",
        "(a{30}){30}",
        "a{99999999999}",
        "a" * 1_001,
        "(" * 499 + ")" * 499 + "(?=a)",
    ],
)
def test_unsupported_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(Invalid) as refusal:
        compile_pattern(pattern)
    assert refusal.value.code == "bad_pattern"


def test_a_text_that_is_too_long_fits_nothing() -> None:
    assert not compile_pattern("a*").matches("a" * (MAX_TEXT + 1))
