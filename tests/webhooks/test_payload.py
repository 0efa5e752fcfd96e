"""From a body to arguments: every element as it was written, compared with a second
implementation."""

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.base.errors import BadMediaType, Invalid
from belvedere.tasks.definition import argument_values
from belvedere.tasks.model import Argument, ArgumentKind
from belvedere.webhooks.deliveries import payload

JSON = "application/json"


class JsonForms(NamedTuple):
    """A JSON value: as it is in a body, compact, and as an argument."""

    source: str
    compact: str
    argument: str


def literal(word: str) -> JsonForms:
    return JsonForms(word, word, word)


def string(text: str, ascii_only: bool = True) -> JsonForms:
    return JsonForms(
        json.dumps(text, ensure_ascii=ascii_only), json.dumps(text, ensure_ascii=False), text
    )


def join_parts(marks: str, parts: list[tuple[str, str]], gap: str) -> JsonForms:
    source = f"{gap},{gap}".join(source for source, _ in parts)
    compact = ",".join(compact for _, compact in parts)
    return JsonForms(
        f"{marks[0]}{gap}{source}{gap}{marks[1]}", *[f"{marks[0]}{compact}{marks[1]}"] * 2
    )


def array(items: list[JsonForms], gap: str) -> JsonForms:
    return join_parts("[]", [(item.source, item.compact) for item in items], gap)


def mapping(items: dict[str, JsonForms], gap: str) -> JsonForms:
    parts = []
    for key, pair in items.items():
        name = string(key)
        parts.append((f"{name.source}{gap}:{gap}{pair.source}", f"{name.compact}:{pair.compact}"))
    return join_parts("{}", parts, gap)


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)
# No NUL: it cannot be passed to a program.
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
GAPS = st.text(" \t\r\n", max_size=3)
SIMPLE = st.one_of(
    st.sampled_from(["true", "false", "null"]).map(literal),
    NUMBERS.map(literal),
    st.builds(string, TEXTS, st.booleans()),
)
VALUES = st.recursive(
    SIMPLE,
    lambda inner: (
        st.builds(array, st.lists(inner, max_size=4), GAPS)
        | st.builds(mapping, st.dictionaries(TEXTS, inner, max_size=4), GAPS)
    ),
    max_leaves=12,
)


def given_to(count: int, content_type: str, raw: bytes) -> list[object]:
    """The arguments of a script with so many optional arguments."""
    definition = Argument(ArgumentKind.INPUT, "a", required=False)
    elements = payload.elements(content_type, raw)
    return list(argument_values.fit([definition] * count, elements, by_index=True))


@given(st.lists(VALUES, max_size=6), GAPS)
def test_an_array_fills_the_arguments(values: list[JsonForms], gap: str) -> None:
    raw = array(values, gap).source.encode()
    assert given_to(len(values), JSON, raw) == [value.argument for value in values]


@given(st.lists(SIMPLE, min_size=1, max_size=6), st.integers(0, 6))
def test_extra_values_are_ignored(values: list[JsonForms], count: int) -> None:
    raw = array(values, "").source.encode()
    expected = [value.argument for value in values[:count]]
    assert given_to(count, JSON, raw) == expected + [""] * (count - len(expected))


@given(VALUES.filter(lambda item: not item.compact.startswith("[")))
def test_a_value_that_is_not_an_array_counts_as_an_array_of_one(value: JsonForms) -> None:
    assert given_to(1, JSON, value.source.encode()) == [value.argument]


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    for content_type in (JSON, "text/plain", "application/x-www-form-urlencoded", ""):
        try:
            items = payload.elements(content_type, raw)
        except (Invalid, BadMediaType):
            continue
        assert isinstance(items, list)


@given(st.dictionaries(TEXTS, SIMPLE, min_size=1, max_size=3), st.data())
def test_a_key_that_occurs_twice_is_refused(
    items: dict[str, JsonForms], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(items)))
    inner = mapping(items, "").source[:-1] + f",{string(key).source}:1}}"
    for raw in (f"[{inner}]", inner, f'[[{{"x": {inner}}}]]'):
        with pytest.raises(Invalid) as refusal:
            payload.elements(JSON, raw.encode())
        assert refusal.value.code == "duplicate_key"


@pytest.mark.parametrize("half", ["\\ud800", "\\uDC00", "\\ud83d\\u0041", "a\\udfffb"])
def test_an_unpaired_surrogate_is_refused_everywhere(half: str) -> None:
    for raw in (f'["{half}"]', f'[{{"{half}": 1}}]', f'[[["{half}"]]]', f'"{half}"'):
        with pytest.raises(Invalid) as refusal:
            payload.elements(JSON, raw.encode())
        assert refusal.value.code == "malformed_json"


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"k":', "}")])
def test_depth_has_a_limit(opening: str, closing: str) -> None:
    def nest(depth: int) -> bytes:
        return (opening * depth + "1" + closing * depth).encode()

    assert len(payload.elements(JSON, nest(100))) == 1
    for depth in (101, 1_000, 200_000):
        with pytest.raises(Invalid) as refusal:
            payload.elements(JSON, nest(depth))
        assert refusal.value.code == "malformed_json"
