"""JSON text: read as by the standard library, refused with the position of the error."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.base.text.json_text import Number

BLANKS = st.text(" \t\n\r", max_size=3)
PIECES = [*'{}[]:, \n1"\\x', '"a"', "-0", "1.50", "true", "null", "\ufeff", "\u00a0", "\v"]
WRITTEN = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def test_json_is_parsed_with_exact_numbers() -> None:
    assert json_text.parse(b'{"a": [1.0, -0, "b"]}') == {"a": [Number("1.0"), Number("-0"), "b"]}
    assert json_text.parse(b'{"a": [1.0, -0, "b"]}', exact=False) == {"a": [1.0, 0, "b"]}


def parse_or_message(written: str) -> Any:
    try:
        return json_text.parse(written.encode())
    except Invalid as refusal:
        return refusal.message


def as_the_library_reads(written: str) -> Any:
    try:
        return json.loads(written, parse_int=Number, parse_float=Number)
    except json.JSONDecodeError as fault:
        at = f"at line {fault.lineno} column {fault.colno}"
        return f"The body is not JSON: {fault.msg} {at}."


@given(WRITTEN)
@example("")
@example(" ")
@example("1 2")
@example("1\n 2")
@example("[] ]")
@example(' {"a":\n1 x}')
def test_the_parser_agrees_with_the_library(written: str) -> None:
    # The library accepts a key that occurs twice, and reports a byte order mark differently.
    message = parse_or_message(written)
    if "occurs twice" not in str(message) and not written.startswith("\ufeff"):
        assert message == as_the_library_reads(written)


@given(BLANKS, VALUES, BLANKS)
def test_blanks_around_it_do_not_matter(before: str, value: Any, behind: str) -> None:
    written = before + json.dumps(value) + behind
    assert json_text.parse(written.encode(), exact=False) == value


@pytest.mark.parametrize("around", ["{}", " {}", "{} ", "\n{}\n"])
def test_no_key_may_occur_twice(around: str) -> None:
    for written in ('{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'):
        with pytest.raises(Invalid, match="'a' occurs twice"):
            json_text.parse(around.replace("{}", written))


@pytest.mark.parametrize("half", ["\\ud800", "\\uD800", "\\udC00", "\\uDc00", "\\ud83dx\\ude00"])
def test_an_unpaired_surrogate_is_no_text(half: str) -> None:
    for written in (f'"{half}"', f'{{"{half}": 1}}', f'["\\\\UD", "{half}"]'):
        with pytest.raises(Invalid, match="surrogate"):
            json_text.parse(written.encode())


def test_a_surrogate_pair_is_valid_text() -> None:
    assert json_text.parse(b'["\\ud83d\\uDE00", "\\\\ud800", "\\\\UD800"]') == [
        "😀",
        "\\ud800",
        "\\UD800",
    ]
