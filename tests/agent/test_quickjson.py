"""Fast JSON against the standard library's, on unusual input."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.agent import json_lines
from belvedere.agent.json_lines import from_json, to_json, writer

# Every code point, including halves of surrogate pairs, and every number, including infinite ones.
TEXTS = st.text(st.characters())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS | st.integers(), inner),
    max_leaves=20,
)
ODD = ["", " ", "\n", "nul", "[1", "1 2", "[1] x", "{} {}", "\ufeff1", '"\x01"', "NaN", "-", "\0"]
SPACES = st.text(" \t\r\n\v", max_size=2)


def standard(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def outcome(read: Any, text: str) -> Any:
    """The result in a form that can be compared, also if it contains NaN."""
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as fault:
        return type(fault), str(fault)


@given(VALUES)
def test_values_are_encoded_as_by_the_library(value: Any) -> None:
    assert to_json(value) == standard(value)
    assert from_json(to_json(value)) == json.loads(standard(value))


@given(st.sampled_from(ODD) | TEXTS | VALUES.map(standard), SPACES, SPACES)
def test_the_parser_accepts_exactly_what_the_library_accepts(
    text: str, before: str, after: str
) -> None:
    for odd in (before + text + after, text[:-1], text[1:]):
        assert outcome(from_json, odd) == outcome(json.loads, odd)


def test_values_that_json_lacks_are_converted_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert writer(list)([range(3)]) == "[[0,1,2]]"
    with pytest.raises(TypeError, match="not JSON serializable"):
        to_json(range(3))
    monkeypatch.setattr(json_lines, "make_encoder", None)
    assert writer(list)([range(3), float("inf")]) == "[[0,1,2],Infinity]"
