"""Patterns of task arguments: RE2 gives the same results as Python's own engine."""

import re
import warnings

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import Invalid
from belvedere.rest.patterns.matcher import MAX_TEXT, RE2Pattern, compiled

# Syntax that Python and RE2 read differently, or that only one of them has.
ATOMS = [
    *("a", "b", ".", "[ab]", "[^a]", "[a-c1]", "^", "$", r"\A", r"\Z", "x{,2}", "[[:alpha:]]"),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"[\s\S]", r"[^\W\d]", r"[\Wa]", r"[\wé]"),
    *("é", "Ñ", "[é-í]", "[^é]", "[À-ÿ]", r"\x41", r"\u00e9", r"\101", "[]a]", "(?#c)", "٣"),
    *("[一-鿿]", r"[\b]", "{", "}", "a{", r"\.", r"\\", "(?P<n>a)", "-", "[a-]", "[&&b]"),
]
patterns = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{,2}", "{1,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)
texts = st.text("abABC:1 éÉñÑÀ漢—\n_\u2003٣\x08]{}-&.\\x", max_size=8)


@hypothesis.settings(max_examples=600)
@hypothesis.given(pattern=patterns, flags=st.sampled_from(["", "(?i)", "(?s)"]), text=texts)
def test_results_equal_those_of_the_standard_engine(pattern: str, flags: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # `$` is the end of the text here: no line feed may follow it.
            expected = re.compile(flags + pattern.replace("$", r"\Z")).fullmatch(text) is not None
        except re.error:
            hypothesis.reject()
    try:
        re2_pattern = RE2Pattern(flags + pattern)
    except Invalid as refusal:
        assert "\\W in a set" in refusal.message
        hypothesis.reject()
    assert re2_pattern.matches(text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"\w+", "Muñoz", True),
        (r"\d+", "٣٤", True),
        (r"[\w áéíóú]{1,50}", "José Muñoz", True),
        (r"\w+", "a€", False),
        ("a$", "a\n", False),
        (r"a\Z", "a", True),
        ("(?i)ñ", "Ñ", True),
        ("a{,2}", "aa", True),
        ("a{,2}", "a{,2}", False),
        ("[一-鿿ぁ-ん]+", "漢字", True),
        (r"\bé\b", "é", False),
    ],
)
def test_differences_of_the_engines(pattern: str, text: str, fits: bool) -> None:
    r"""Only \b differs from Python: it knows words of ASCII alone."""
    assert compiled(pattern).matches(text) is fits


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "look-ahead"),
        ("(?<!a)b", "negative look-ahead or look-behind"),
        (r"(a)\1", "back reference"),
        ("(a)(?(1)a|b)", "conditional group"),
        ("(?>a)", "atomic group"),
        ("a++", "possessive"),
        ("(?i:a)", "flags inside"),
        ("(?m)a", "flag other than i or s"),
        ("(", "missing"),
        ("a" * 1_001, "longer than 1000"),
        ("[一-鿿]\ud800", "surrogate"),
    ],
)
def test_an_unusable_pattern_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason) as refusal:
        compiled(pattern)
    assert refusal.value.code == "bad_pattern"


def test_a_text_that_is_too_long_or_is_no_text_fits_nothing() -> None:
    assert not compiled("a*").matches("a" * (MAX_TEXT + 1))
    assert not compiled("[一-鿿].").matches("漢\ud800")


def test_a_pattern_that_cannot_be_used_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """RE2 logs what it rejects, with the pattern, unless that is turned off."""
    for text in (r"[一-鿿\w]{400}", "("):
        with pytest.raises(Invalid):
            RE2Pattern(text)
    assert capfd.readouterr() == ("", "")
