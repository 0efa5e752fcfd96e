"""Validating values against definitions, all or nothing."""

import base64
import json
from collections.abc import Sequence
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import Invalid
from belvedere.base.text.json_text import Number, compact, parse
from belvedere.db import Database
from belvedere.files import content_of
from belvedere.tasks.definition.argument_types import TYPES, FileValue
from belvedere.tasks.definition.argument_values import (
    MAX_ALL,
    MAX_EACH,
    fit,
    mask_values,
    store_files,
)
from belvedere.tasks.model import Argument, ArgumentKind, Option
from people import Actors

K = ArgumentKind
INPUT = Argument(K.INPUT, "name")
REQUIRED = Argument(K.INPUT, "name", required=True)
OPTIONAL = Argument(K.INPUT, "nick", required=False)
FIXED = Argument(K.FIXED, "mode", value="fast")
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
# Infinity is not valid JSON.
finite = st.floats(allow_nan=False, allow_infinity=False)


def refusal_of(definitions: Sequence[Argument], given: Sequence[Any], **how: bool) -> Invalid:
    with pytest.raises(Invalid) as refusal:
        fit(definitions, given, **how)
    return refusal.value


def test_values_fill_the_arguments_in_order() -> None:
    assert fit([INPUT, FIXED, INPUT], ["a", "b"]) == ["a", "fast", "b"]


def test_an_array_as_long_as_all_definitions_fills_by_index() -> None:
    assert fit([INPUT, FIXED, INPUT], ["a", "ignored", "b"]) == ["a", "fast", "b"]
    assert fit([FIXED], ["ignored"]) == ["fast"]


def test_a_task_without_arguments_takes_none() -> None:
    assert fit([], []) == []
    assert refusal_of([], ["a"]).code == "too_many_arguments"


def test_too_few_names_each_that_is_missing() -> None:
    fault = refusal_of([INPUT, FIXED, INPUT, OPTIONAL], ["a"])
    assert fault.code == "missing_arguments"
    assert [item.field for item in fault.faults] == ["task_arguments[2]", "task_arguments[3]"]


def test_a_message_counts_arguments_as_the_table_of_the_task_does() -> None:
    refusal = refusal_of([INPUT, FIXED, REQUIRED], ["a", ""])
    assert refusal.message == "Argument 3 (name) is required."
    # Programs count from 0.
    assert refusal.faults[0].field == "task_arguments[2]"


def test_the_message_about_too_many_values_is_one_sentence() -> None:
    expected = "The task takes 1 argument, but 3 were sent."
    assert refusal_of([INPUT], ["a", "b", "c"]).message == expected


def test_too_many_are_refused() -> None:
    fault = refusal_of([INPUT, FIXED, INPUT], ["a", "b", "c", "d"])
    assert fault.code == "too_many_arguments"
    assert fault.faults[0].field == "task_arguments[2]"


def test_every_wrong_value_is_named_at_once() -> None:
    definitions = [REQUIRED, Argument(K.BOOLEAN, "sure"), Argument(K.EMAIL, "mail")]
    fault = refusal_of(definitions, ["", "maybe", "ada@acme.test"])
    assert fault.code == "bad_arguments"
    assert [item.field for item in fault.faults] == ["task_arguments[0]", "task_arguments[1]"]
    assert "(sure)" in fault.faults[1].message


def test_only_a_required_argument_must_not_be_empty() -> None:
    assert fit([OPTIONAL], [""]) == [""]
    assert fit([OPTIONAL], [None]) == ["null"]
    assert fit([Argument(K.EMAIL, required=False)], [""]) == [""]
    assert fit([INPUT, Argument(K.EMAIL)], ["", ""]) == ["", ""]
    assert refusal_of([INPUT], [None]).message == "Argument 1 (name) is required."
    for empty in ("", None):
        assert refusal_of([REQUIRED], [empty]).faults[0].field == "task_arguments[0]"


@pytest.mark.parametrize(
    "definitions, values, accepted",
    [
        ([INPUT, INPUT], ["a", "b", "c"], ["a", "b"]),
        ([], ["a"], []),
        # A list that is longer than all definitions is matched by index.
        ([FIXED, INPUT], ["ignored", "b", "c"], ["fast", "b"]),
        # A shorter one fills the arguments that are not fixed.
        ([INPUT, FIXED, FIXED], ["a", "b"], ["a", "fast", "fast"]),
    ],
)
def test_extra_values_can_be_ignored(
    definitions: list[Argument], values: list[str], accepted: list[str]
) -> None:
    assert fit(definitions, values, ignores_extra=True) == accepted
    assert refusal_of(definitions, values).code == "too_many_arguments"


@pytest.mark.parametrize(
    "item, text",
    [
        (Number("1.0"), "1.0"),
        (Number("-0"), "-0"),
        (7, "7"),
        (True, "true"),
        ({"a": [Number("1e5"), None, "é"]}, '{"a":[1e5,null,"é"]}'),
        ([], "[]"),
    ],
)
def test_other_values_become_their_json_text(item: Any, text: str) -> None:
    fitted = fit([INPUT], [item])
    assert fitted == [text]
    assert type(fitted[0]) is str


@hypothesis.given(st.lists(texts, max_size=6))
def test_strings_come_through_unchanged(values: list[str]) -> None:
    assert fit([INPUT] * len(values), values) == values
    assert fit([INPUT] * len(values), values, by_index=True) == values


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), finite, texts),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
    max_leaves=8,
)


@hypothesis.given(value=json_values)
def test_any_json_value_arrives_as_text_of_the_same_value(value: Any) -> None:
    written = parse(json.dumps(value))
    fitted = fit([Argument(K.INPUT)], [written], by_index=True)[0]
    assert fitted == (value if isinstance(value, str) else compact(written))
    if not isinstance(value, str):
        assert isinstance(fitted, str)
        assert json.loads(fitted) == value


@hypothesis.given(
    kinds=st.lists(st.sampled_from([K.FIXED, K.INPUT]), max_size=8), extra=st.integers(0, 3)
)
def test_by_index_every_element_has_its_own_definition(
    kinds: list[ArgumentKind], extra: int
) -> None:
    definitions = [Argument(kind, value=f"fixed {n}") for n, kind in enumerate(kinds)]
    input_texts = [f"given {n}" for n in range(len(kinds) + extra)]
    expected = [f"{'fixed' if kind is K.FIXED else 'given'} {n}" for n, kind in enumerate(kinds)]
    assert fit(definitions, input_texts, by_index=True) == expected


def test_by_index_a_missing_value_is_refused_unless_optional() -> None:
    assert fit([INPUT, FIXED, OPTIONAL], ["a"], by_index=True) == ["a", "fast", ""]
    fault = refusal_of([INPUT, INPUT], ["a"], by_index=True)
    assert (fault.code, fault.faults[0].field) == ("missing_arguments", "task_arguments[1]")
    assert fit([INPUT], [None], by_index=True) == ["null"]


def test_each_argument_type_has_its_checks() -> None:
    assert set(TYPES) == set(ArgumentKind)


SELECT = Argument(K.SELECT, options=[Option("eu"), Option(7), Option("us")])
SEVERAL = Argument(K.SELECT, options=SELECT.options, multiple=True)


@pytest.mark.parametrize(
    "definition, item, expected",
    [
        (Argument(K.TEXTAREA), "a\nb", "a\nb"),
        (Argument(K.INPUT, charsmin=2, charsmax=3), "ab", "ab"),
        (Argument(K.BOOLEAN), False, "false"),
        (Argument(K.BOOLEAN), "true", "true"),
        (Argument(K.JSON), '{"a": 1}', '{"a": 1}'),
        (Argument(K.JSON), {"a": Number("1")}, '{"a":1}'),
        (SELECT, "eu", "eu"),
        (SELECT, Number("7"), "7"),
        (SEVERAL, ["eu", Number("7")], '["eu","7"]'),
        (SEVERAL, '["us"]', '["us"]'),
        (SEVERAL, "us", '["us"]'),
        (Argument(K.DATE), "2026-01-31", "2026-01-31"),
        (Argument(K.DATE), "2026-01-31T08:00:00.000Z", "2026-01-31T08:00:00.000Z"),
        (Argument(K.EMAIL), "ada@acme.test", "ada@acme.test"),
        (Argument(K.REGEXP, pattern="[a-z]+"), "abc", "abc"),
        (Argument(K.REMOTE_OPTIONS), "anything", "anything"),
        (Argument(K.REMOTE_OPTIONS, multiple=True), ["a", "b"], '["a","b"]'),
    ],
)
def test_each_argument_type_accepts_valid_values(
    definition: Argument, item: Any, expected: str
) -> None:
    assert fit([definition], [item]) == [expected]


@pytest.mark.parametrize(
    "definition, item",
    [
        (Argument(K.INPUT, charsmin=2), "a"),
        (Argument(K.INPUT, charsmax=3), "abcd"),
        (Argument(K.BOOLEAN), "yes"),
        (Argument(K.JSON), "{"),
        (Argument(K.JSON), '{"a": 1, "a": 2}'),
        (SELECT, "asia"),
        (SEVERAL, ["eu", "asia"]),
        (Argument(K.DATE), "tomorrow"),
        (Argument(K.EMAIL), "ada"),
        (Argument(K.EMAIL), "ada@acme.test, max@acme.test"),
        (Argument(K.REGEXP, pattern="[a-z]+"), "abc1"),
        (Argument(K.REGEXP, pattern="a*"), "a" * 1_001),
        (Argument(K.FILE), "report.txt"),
        (Argument(K.FILE), "data:text/plain,hello"),
        (Argument(K.FILE), "data:text/plain;base64,?"),
        (Argument(K.FILE), "data:text/plain;name=..;base64,eA=="),
        (INPUT, "a\0b"),
        (INPUT, "\ud800"),
        (INPUT, float("nan")),
    ],
)
def test_each_argument_type_refuses_invalid_values(definition: Argument, item: Any) -> None:
    fault = refusal_of([definition], [item])
    assert (fault.code, fault.faults[0].field) == ("bad_arguments", "task_arguments[0]")


def test_values_that_are_too_deep_are_refused_not_a_crash() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert refusal_of([INPUT], [deep]).code == "bad_arguments"


def test_sizes_are_limited_each_and_in_all() -> None:
    most = "é" * (MAX_EACH // 2)
    assert fit([INPUT], [most]) == [most]
    assert refusal_of([INPUT], [most + "x"]).faults[0].field == "task_arguments[0]"
    eight = [most] * (MAX_ALL // MAX_EACH)
    assert len(fit([INPUT] * 8, eight)) == 8
    assert refusal_of([INPUT] * 9, [*eight, "x"]).faults[0].field == "task_arguments"


def test_a_refusal_never_repeats_the_value() -> None:
    hidden = Argument(K.REGEXP, masked=True, pattern="a")
    fault = refusal_of([hidden, Argument(K.JSON, masked=True)], ["hunter2", "hunter2"])
    assert "hunter2" not in str([fault.message, *(item.message for item in fault.faults)])


@hypothesis.given(content=st.binary(max_size=300))
def test_a_file_is_decoded_from_its_data_url(content: bytes) -> None:
    data = base64.b64encode(content).decode()
    fitted = fit([Argument(K.FILE)], [f"data:text/csv;name=a%20b.csv;base64,{data}"])
    assert fitted == [FileValue("a b.csv", "text/csv", content)]


def test_a_file_is_not_bound_by_the_limit_of_words() -> None:
    data = base64.b64encode(bytes(2 * MAX_ALL)).decode()
    assert isinstance(fit([Argument(K.FILE)], [f"data:;base64,{data}"])[0], FileValue)


def test_files_are_stored_by_their_content(db: Database, actors: Actors) -> None:
    files = db.write_blocking(
        store_files, actors.ada.customer_id, ["a", FileValue("b.csv", "text/csv", b"1,2")]
    )
    assert files[0] == "a"
    assert isinstance(files[1], dict)
    assert files[1]["filename"] == "b.csv"
    assert db.write_blocking(content_of, files[1]["blob"]) == b"1,2"


def test_masked_values_are_never_shown() -> None:
    definitions = [INPUT, Argument(K.INPUT, masked=True), Argument(K.FIXED, masked=True, value="x")]
    assert mask_values(definitions, ["a", "b", "x"]) == ["a", "***", "***"]
    assert mask_values(definitions, []) == []
