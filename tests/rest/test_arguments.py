"""The three encodings of a run request."""

import json
from urllib.parse import parse_qs, unquote_plus, urlencode

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import BadMediaType, Invalid
from belvedere.base.text.json_text import Number
from belvedere.rest import fields
from belvedere.rest.run_arguments import RunArguments, read

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def body(value: object) -> bytes:
    return json.dumps(value).encode()


def test_task_organization_and_arguments_are_read() -> None:
    text = read(JSON, body({"task": "t", "task_arguments": ["a", "b"]}), {"customer": ["acme"]})
    assert (text.task, text.customer, text.arguments) == ("t", "acme", ["a", "b"])


@hypothesis.given(
    arguments=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=20)
)
def test_the_encodings_give_the_identical_list(arguments: list[str]) -> None:
    def as_query(name: str) -> dict[str, list[str]]:
        return parse_qs(urlencode({name: arguments}, doseq=True), keep_blank_values=True)

    def as_form(name: str) -> bytes:
        fields = {name: arguments, "customer": "acme", "task": "t"}
        return urlencode(fields, doseq=True).encode()

    run_arguments = [
        read(JSON, body({"task_arguments": arguments}), {}),
        read(JSON + "; charset=UTF-8", json.dumps(arguments, ensure_ascii=False).encode(), {}),
        read(FORM, as_form("task_arguments"), {}),
        read(FORM, as_form("task_arguments[]"), {}),
        read("", b"", as_query("task_arguments[]")),
        read("", b"", as_query("task_arguments")),
    ]
    assert [item.arguments for item in run_arguments] == [arguments] * 6


def test_numbers_keep_their_spelling() -> None:
    arguments = read(JSON, b"[1.0, 1e5, -0, true, null, {}]", {}).arguments
    assert arguments == ["1.0", "1e5", "-0", True, None, {}]
    assert arguments is not None and isinstance(arguments[0], Number)


def test_no_arguments_are_not_an_empty_list() -> None:
    assert read("", b"", {}) == RunArguments()
    assert read(JSON, b"{}", {}).arguments is None
    assert read(JSON, b'{"task_arguments": null}', {}).arguments is None
    assert read(JSON, b'{"task_arguments": []}', {}).arguments == []


def test_reading_arguments_keeps_the_rest_of_the_body() -> None:
    assert read(JSON, b'{"lifecycle": "syncing", "task": "t"}', {}).rest == {"lifecycle": "syncing"}
    assert read(FORM, b"lifecycle=onhold&task=t", {}).rest == {"lifecycle": "onhold"}


def test_an_html_form_sends_everything_in_hidden_fields() -> None:
    raw = b"customer=acme&task=t&task_arguments%5B%5D=a+b&task_arguments%5B%5D=%C3%A9"
    text = read(FORM, raw, {})
    assert (text.customer, text.task, text.arguments) == ("acme", "t", ["a b", "é"])


def test_body_and_query_may_agree() -> None:
    text = read(JSON, b'{"customer": "acme", "task": "t"}', {"customer": ["ACME"], "task": ["t"]})
    assert (text.customer, text.task) == ("acme", "t")


@pytest.mark.parametrize(
    "raw, query",
    [
        (b'{"task": "t"}', {"task": ["u"]}),
        (b'{"customer": "acme"}', {"customer": ["globex"]}),
        (b'{"task_arguments": ["a"]}', {"task_arguments[]": ["b"]}),
        (b"", {"customer": ["acme", "globex"]}),
    ],
)
def test_contradictory_arguments_are_refused(raw: bytes, query: dict[str, list[str]]) -> None:
    with pytest.raises(Invalid) as refusal:
        read(JSON, raw, query)
    assert refusal.value.code == "disagree"


@pytest.mark.parametrize(
    "content_type, raw",
    [
        ("multipart/form-data; boundary=x", b"--x--"),
        ("text/plain", b"task_arguments=a"),
        (JSON + "; charset=utf-16", b"{}"),
        (FORM, b'{"task_arguments": ["a"]}'),
    ],
)
def test_unreadable_arguments_are_refused(content_type: str, raw: bytes) -> None:
    with pytest.raises(BadMediaType):
        read(content_type, raw, {})


@pytest.mark.parametrize(
    "content_type, raw, code",
    [
        (JSON, b'{"task_arguments": "a"}', "bad_arguments"),
        (JSON, b'{"task_arguments": {"0": "a"}}', "bad_arguments"),
        (JSON, b'{"task": 7}', "malformed_body"),
        (JSON, b'"a"', "malformed_body"),
        (JSON, b"[1,", "malformed_json"),
        (JSON, b'{"a": 1, "a": 2}', "duplicate_key"),
        ("", b"task_arguments=a", "malformed_json"),
        (FORM, b"task_arguments=a&task_arguments[]=b", "bad_arguments"),
        (FORM, b"task_arguments[0]=a", "bad_arguments"),
        (FORM, b"task_arguments=%FF", "malformed_form"),
        (FORM, b"task_arguments=\xff", "malformed_form"),
        (FORM, b"&".join([b"task_arguments=a"] * 1_001), "too_many_fields"),
        (JSON, b"[" + b",".join([b"1"] * 1_001) + b"]", "too_many_fields"),
    ],
)
def test_unreadable_arguments_have_an_error_code(content_type: str, raw: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read(content_type, raw, {})
    assert refusal.value.code == code


NAMES = st.sampled_from(
    [
        "task_arguments",
        "task_arguments[]",
        "task_arguments[0]",
        "task_arguments[",
        "task_argument",
    ]
    + ["task_arguments]", "task_argumentss[]", "Task_arguments", " task_arguments", "x[]", ""]
)


@hypothesis.given(st.lists(NAMES, unique=True))
def test_arguments_have_one_name(names: list[str]) -> None:
    spelled = [name for name in names if name.partition("[")[0] == "task_arguments"]
    sent_fields = {name: ["a", "b"] for name in names}
    if len(spelled) > 1 or not {"task_arguments", "task_arguments[]"}.issuperset(spelled):
        with pytest.raises(Invalid) as refusal:
            read("", b"", sent_fields)
        assert refusal.value.code == "bad_arguments"
        assert refusal.value.faults[0].field == spelled[-1]
    else:
        assert read("", b"", sent_fields).arguments == (["a", "b"] if spelled else None)
        form = urlencode(sent_fields, doseq=True).encode()
        others = {name: "b" for name in names if name not in spelled}
        assert read(FORM, form, {}).rest == others


def test_a_thousand_arguments_are_still_read() -> None:
    assert read(FORM, b"&".join([b"task_arguments=a"] * 1_000), {}).arguments == ["a"] * 1_000
    with pytest.raises(Invalid):
        read("", b"", {"task_arguments[]": ["a"] * 1_001})


@hypothesis.given(
    content_type=st.sampled_from([JSON, FORM, "", "application/problem+json", "image/png"]),
    raw=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)),
)
def test_any_bytes_are_read_or_refused(content_type: str, raw: bytes) -> None:
    try:
        text = read(content_type, raw, {})
    except Invalid:
        return
    assert text.arguments is None or isinstance(text.arguments, list)


@pytest.mark.parametrize("text", ["%41", "a%C3%A9", "é%c3%a9+", "%%41", "%4", "a+%2B%zz"])
def test_a_long_field_means_the_same_as_a_short_one(text: str) -> None:
    """It is decoded in pieces, whose ends must not be inside of an escape."""
    for start in range(4):
        value = "x" * start + text * (3 * fields.MAX_PIECE // len(text))
        assert fields.read(f"a={value}") == {"a": [unquote_plus(value)]}
    with pytest.raises(ValueError, match="utf-8"):
        fields.read(f"a={'%ff' * fields.MAX_PIECE}")
