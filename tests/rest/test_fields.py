"""Fields of query strings and forms: the same values as urllib reads."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from belvedere.rest import fields

PIECES = [
    "&",
    "=",
    "%",
    "+",
    ";",
    "%41",
    "%c3%a9",
    "%C3",
    "%2",
    "%00",
    "é",
    "a",
    "b",
    "[]",
    "\ud800",
]
WRITTEN = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join)


def test_a_query_is_parsed() -> None:
    text = fields.read("customer=acme&a=1&a=2&blank=&bare&task_arguments%5B%5D=b+c")
    assert text == {
        "customer": ["acme"],
        "a": ["1", "2"],
        "blank": [""],
        "bare": [""],
        "task_arguments[]": ["b c"],
    }


def as_urllib_reads(written: str) -> dict[str, list[str]] | type[ValueError]:
    actual_fields: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(written, keep_blank_values=True, errors="strict", max_num_fields=1_000)
    except ValueError as fault:
        return type(fault)
    for name, value in pairs:
        actual_fields.setdefault(name, []).append(value)
    return actual_fields


@given(WRITTEN)
@example("")
@example("&&=&")
@example("a=%ff")
@example("a==b=c;d=e")
@example("&" * 999)
@example("&" * 1_000)
@example("a=%ff" + "&" * 1_000)
def test_the_parser_agrees_with_urllib(written: str) -> None:
    text: dict[str, list[str]] | type[ValueError]
    try:
        text = fields.read(written)
    except ValueError as fault:
        text = type(fault)
    assert text == as_urllib_reads(written)


def test_too_many_fields_are_refused() -> None:
    assert fields.read("&".join(["a=b"] * 1_000)) == {"a": ["b"] * 1_000}
    with pytest.raises(ValueError, match="1000"):
        fields.read("&".join(["a=b"] * 1_001))
