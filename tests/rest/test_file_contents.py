"""Large bodies with files: the same values as those of the plain parsers, with fewer copies."""

import json
import tracemalloc
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.base.errors import Invalid, TooLarge
from belvedere.base.text import json_text
from belvedere.rest import fields, run_arguments
from belvedere.rest.bodies import file_contents
from belvedere.tasks.definition.argument_types import FileValue
from belvedere.tasks.definition.argument_values import fit
from belvedere.tasks.model import Argument, ArgumentKind

LIMIT = 32 << 20
HEAD = b'{"task_arguments":["data:text/plain;name=a.txt;base64,'
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
FILE = Argument(type=ArgumentKind.FILE, label="a")


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MIN_BODY", 10)
    monkeypatch.setattr(file_contents, "MIN_CONTENT", 8)
    monkeypatch.setattr(file_contents, "STEP", 7)


BODIES = [
    '["data:;base64,QUJDQUJDQUJD"]',
    '{"a": "data:text/plain;name=a.txt;base64,QUJDQUJDQUJD", "b": [1.0, true, null, "x"]}',
    '["data:;base64,QUJDQUJDQUJD", "data:;base64,QUJEQUJEQUJE", "data:;base64,QQ=="]',
    r'["data:;base64,QUJ\/QUJ\/QUJ\/QUJ\/QUJ\/", "x"]',
    r'["data:;base64,QUJ\u002bQUJ\u002BQUJ\/QUJDQUJ\u003d"]',
    r'["a\";base64,QUJDQUJDQUJD", "é\\", "\\;base64,QUJDQUJDQUJD"]',
    r'["data:;base64,QUJDQUJDQUJDQUJD\"still the same text"]',
    '[";base64,QUJDQUJDQUJD;base64,QUJDQUJDQUJD"]',
    '  ["data:;name=\\u00e9;base64,QUJDQUJDQUJD"]  ',
    '{"x": {"y": ["data:;base64,QUJDQUJDQUJD"]}, "z": "ü😀"}',
]


@pytest.mark.parametrize("text", BODIES)
def test_json_has_the_same_values(text: str) -> None:
    expected = json_text.parse(text.encode())
    values = file_contents.parse_json(text.encode())
    # The name of a file beyond ASCII is percent-encoded, which means the same in a data URL.
    assert values == expected or values == ["data:;name=%C3%A9;base64,QUJDQUJDQUJD"]


@pytest.mark.parametrize(
    "text",
    [
        '["a";base64,QUJDQUJDQUJD"]',
        '["data:;base64,QUJDQUJDQUJD',
        '["data:;base64,QUJDQUJDQUJD"',
        r'["data:;base64,QUJD\x41QUJDQUJD"]',
        '{"data:;base64,QUJDQUJDQUJD": 1}',
        '{"a": ";base64,QUJDQUJDQUJD", "a": 1}',
        '["data:;base64,QUJDéQUJDQUJD"]',
    ],
)
def test_malformed_json_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        file_contents.parse_json(text.encode())
    assert refusal.value.code in ("malformed_json", "duplicate_key")


@given(st.lists(st.text(alphabet='AQ=/+;base64,"\\é😀\n\u2028', max_size=40), max_size=4))
def test_any_texts_have_the_same_values(texts: list[str]) -> None:
    contents = [f"data:;base64,{'QUJD' * len(text)}" for text in texts]
    for ascii_only in (True, False):
        raw = json.dumps([*texts, *contents], ensure_ascii=ascii_only).encode()
        try:
            values = file_contents.parse_json(raw)
        except Invalid:
            # A content that is no base64 in a text as long as a file's.
            assert any(";base64," in text for text in texts)
            continue
        assert isinstance(values, list) and values[len(texts) :] == contents
        pairs = zip(values, texts, strict=False)
        assert all(value == text or ";base64," in text for value, text in pairs)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=30)), max_size=5))
def test_forms_have_the_same_fields(pairs: list[tuple[str, str]]) -> None:
    text = "&".join(f"{name}={quote_plus(value)}" for name, value in [*pairs, ("z", "QUJD" * 5)])
    plain = fields.read(text)
    values = file_contents.parse_form(text.encode())
    assert values.keys() == plain.keys()
    for name, expected in plain.items():
        for text, value in zip(values[name], expected, strict=True):
            assert text in (value, file_contents._narrow(value))


def test_a_form_that_is_no_text_is_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        file_contents.parse_form(b"a=%FF%FE%FF%FE%FF%FE%FF%FE")


def test_the_rest_of_a_large_body_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MAX_REST", 100)
    file_contents.parse_json(b'["data:;base64,' + b"QUJD" * 100 + b'"]')
    for raw in (b'["' + b"x" * 200 + b'"]', b'[";base64,' + b"QUJD" * 100 + b"\\"):
        with pytest.raises(TooLarge):
            file_contents.parse_json(raw)
    with pytest.raises(TooLarge):
        file_contents.parse_form(b"&".join([b"a=x"] * 100))


LARGEST = {
    "plain": (JSON, HEAD, b"QUJD", b'"]}'),
    "with a wide character": (JSON, HEAD, b"QUJD", '"],"x":"😀"}'.encode()),
    "with a wide name": (JSON, HEAD.replace(b"a.txt", "😀".encode()), b"QUJD", b'"]}'),
    "with escaped slashes": (JSON, HEAD, b"QUJ\\/", b'"]}'),
    "with other escapes": (JSON, HEAD, b"QUJ\\u002b", b'"]}'),
    "as a form": (FORM, b"task_arguments=data:;name=%F0%9F%98%80;base64,", b"QUJD", b""),
    "as an escaped form": (FORM, b"task_arguments=data:;base64,", b"QUJ%2B", b""),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_file_needs_few_copies(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body, one text of it and the decoded file, of which never all are there at once."""
    monkeypatch.undo()
    kind, head, unit, end = LARGEST[name]
    raw = head + unit * ((LIMIT - 200) // len(unit)) + end
    tracemalloc.start()
    try:
        arguments = run_arguments.read(kind, raw, {}).arguments
        while_parsing = tracemalloc.get_traced_memory()[1] + len(raw)
        tracemalloc.reset_peak()
        [file] = fit([FILE], arguments or [])
        while_decoding = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(file, FileValue) and len(file.content) > LIMIT // 4
    assert while_parsing < 3.1 * LIMIT and while_decoding < 2 * LIMIT
    assert name != "plain" or while_parsing < 2.1 * LIMIT
