"""Secrets in streams: masked in every form, however the stream is split."""

import base64
import html
import json
import os
import re
import shlex
import subprocess
import time
from unittest import mock
from urllib.parse import quote, quote_plus
from xml.sax import saxutils

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.text import masking
from belvedere.base.text.masking import MARK, MAX_SEARCHED_FORMS, Masker
from belvedere.base.text.secret_forms import (
    MAX_LINES,
    MIN_LENGTH,
    _quoted_forms,
    encoded_forms,
)

# The tables of quotings and escapes produce at most this many forms of one text.
MAX_FORMS = 64
SECRET = 'pässwörd/with+all "kinds" of=things?'
KEY = "\n".join(
    ["-----BEGIN PRIVATE KEY-----"]
    + [base64.b64encode(bytes(range(n, n + 48))).decode() for n in range(8)]
    + ["-----END PRIVATE KEY-----", ""]
)


def mask(values: list[str], *pieces: bytes) -> bytes:
    masker = Masker(values)
    return b"".join([*map(masker.feed, pieces), masker.finish()])


def test_a_secret_across_two_chunks_is_masked() -> None:
    assert mask(["hunter22"], b"the password is hunt", b"er22, really\n") == (
        b"the password is ***, really\n"
    )


def by_hand(values: list[str], stream: bytes) -> bytes:
    """Letter by letter: what the rule says, without optimization."""
    hidden = [False] * len(stream)
    joined = [False] * len(stream)
    for form in {form for value in values for form in encoded_forms(value)}:
        for at in range(len(stream) - len(form) + 1):
            if stream[at : at + len(form)] == form:
                hidden[at : at + len(form)] = [True] * len(form)
                joined[at + 1 : at + len(form)] = [True] * (len(form) - 1)
    data = bytearray()
    for at, byte in enumerate(stream):
        if not hidden[at]:
            data.append(byte)
        elif not joined[at]:
            data += MARK
    return bytes(data)


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[a:b] for a, b in zip(edges, edges[1:], strict=False)]


# Few letters, so that secrets overlap themselves and each other, and begin again and again.
secrets = st.text("abc", min_size=MIN_LENGTH, max_size=24)
letters = st.characters(exclude_categories=["Cs"])
cuts = st.lists(st.integers(0, 10_000), max_size=12)


@st.composite
def streams(draw: st.DrawFn, values: list[str]) -> bytes:
    """Text full of the secrets, of parts of them, and of their encoded forms."""
    forms = sorted({form for value in values for form in encoded_forms(value)})
    parts = st.one_of(
        st.sampled_from(forms),
        st.sampled_from(forms).flatmap(
            lambda form: st.integers(0, len(form)).map(lambda n: form[:n])
        ),
        st.sampled_from(forms).flatmap(
            lambda form: st.integers(0, len(form)).map(lambda n: form[n:])
        ),
        st.text("abc", max_size=6).map(str.encode),
        st.binary(max_size=4),
    )
    return b"".join(draw(st.lists(parts, max_size=10)))


@hypothesis.given(st.data())
def test_pieces_make_no_difference(data: st.DataObject) -> None:
    values = data.draw(st.lists(secrets, min_size=1, max_size=4))
    stream = data.draw(streams(values))
    masked_text = mask(values, *cut(stream, data.draw(cuts)))
    assert masked_text == mask(values, stream) == by_hand(values, stream)
    if b"*" not in stream:
        assert not [
            form for value in values for form in encoded_forms(value) if form in masked_text
        ]


@hypothesis.given(st.data())
def test_the_prefilter_finds_the_same(data: st.DataObject) -> None:
    """Enough secrets for the other search method, long ones with much in common."""
    stem = data.draw(st.text("ab", min_size=12, max_size=20))
    values = [stem[n % 5 :] + letters for n, letters in enumerate(data.draw(many))]
    stream = data.draw(streams(values[:6]))
    assert len({form for value in values for form in encoded_forms(value)}) > MAX_SEARCHED_FORMS
    pieces = cut(stream, data.draw(cuts))
    with mock.patch.object(masking, "INDEX_AFTER_BYTES", data.draw(st.integers(0, 50))):
        masked_text = mask(values, *pieces)
    assert masked_text == mask(values, stream) == by_hand(values, stream)


many = st.lists(st.text("abc", min_size=4, max_size=9), min_size=8, max_size=12, unique=True)


@hypothesis.given(st.text(letters, min_size=MIN_LENGTH, max_size=40), cuts)
def test_any_text_is_hidden_in_its_usual_forms(value: str, places: list[int]) -> None:
    hypothesis.assume(value == value.strip() and "*" not in value)
    raw = value.encode()
    for form in (
        raw,
        json.dumps(value)[1:-1].encode(),
        json.dumps(value, ensure_ascii=False)[1:-1].encode(),
        quote(value, safe="").encode(),
        quote(value).encode(),
        quote_plus(value).encode(),
        base64.b64encode(raw).rstrip(b"="),
        base64.urlsafe_b64encode(raw).rstrip(b"="),
        raw.hex().encode(),
        raw.hex().upper().encode(),
    ):
        stream = b"<" + form + b">"
        assert mask([value], *cut(stream, places)) == b"<***>", form


@pytest.mark.parametrize("ahead", range(7))
@pytest.mark.parametrize("behind", range(4))
def test_a_secret_is_hidden_within_a_longer_base64_text(ahead: int, behind: int) -> None:
    """As the password in the header of a request is."""
    raw = SECRET.encode()
    letters = base64.b64encode(b"u" * ahead + raw + b"!" * behind)
    masked_text = mask([SECRET], letters)
    # What remains visible are the neighbours, and at most four bits of the secret at either end.
    assert masked_text.count(MARK) == 1
    assert len(masked_text) - len(MARK) <= 4 * (ahead + behind) / 3 + 6


def test_every_line_of_a_key_is_hidden() -> None:
    for line in KEY.splitlines()[1:-1]:
        assert mask([KEY], line.encode() + b"\n") == b"***\n"
    assert mask([KEY], KEY.encode()) == b"***\n"
    # What `echo $KEY` makes of it.
    assert mask([KEY], KEY.replace("\n", " ").encode()).count(MARK) == 8
    # The header and footer of a key are not secret.
    assert mask([KEY], b"-----BEGIN PRIVATE KEY-----\n") == b"-----BEGIN PRIVATE KEY-----\n"


@pytest.mark.parametrize("width", [64, 76])
def test_wrapped_base64_is_hidden(width: int) -> None:
    letters = base64.b64encode(KEY.encode())
    lines = [letters[at : at + width] for at in range(0, len(letters), width)]
    assert mask([KEY], b"\n".join(lines)).rstrip(b"=") == b"\n".join([MARK] * len(lines))


def test_short_values_are_not_masked() -> None:
    assert mask(["abc", "", "  x "], b"abc  x abc") == b"abc  x abc"
    assert Masker(["abc"]).is_idle and not Masker(["abcd"]).is_idle


def test_a_secret_of_blanks_is_not_hidden_by_its_middle() -> None:
    assert mask([" a b \n", "     "], b"x a b      x") == b"x a b      x"


def test_lines_leave_at_once() -> None:
    """Only what may be the beginning of a secret is held back."""
    masker = Masker(["hunter22-and-so-on", KEY])
    assert masker.feed(b"step 1 of 3\n") == b"step 1 of 3\n"
    assert masker.feed(b"now hunter2") == b"now "
    assert masker.feed(b"3 is another\n") == b"hunter23 is another\n"
    assert masker.feed(b"hunter22-and-so-on\n") == b"***\n"
    assert masker.finish() == b""


@pytest.mark.parametrize("count", [1, 5, 40])
def test_floods_do_no_harm(count: int) -> None:
    """Linear in the stream, whatever the secrets and the stream have in common."""
    values = [f"correct-horse-{n:04d}-battery" for n in range(count)]
    cruel = ["a" * 3_000, "a" * 2_999 + "b", "ab" * 20]
    for piece in (b"y\n", b"a", b"ab", values[0].encode(), b"correct-horse-", bytes(range(256))):
        masker = Masker([*values, *cruel])
        flood = piece * (2_000_000 // len(piece))
        began = time.process_time()
        size = 0
        for at in range(0, len(flood), 65_536):
            size += len(masker.feed(flood[at : at + 65_536]))
        size += len(masker.finish())
        assert size <= len(flood)
        # Some hundred times the time that it takes; a quadratic search would need minutes.
        assert time.process_time() - began < 10


def test_a_stream_of_secrets_keeps_nothing_in_memory() -> None:
    masker = Masker(["a" * 50])
    for _ in range(100):
        masker.feed(b"a" * 65_536)
        assert len(masker._tail) < 50
    assert masker.finish() == b""
    assert mask(["a" * 50], *[b"a" * 1_000] * 20) == MARK


NASTY = "p4ss'w\"o\\rd &<$x>`! {a},*[b]?(c)|;#~^/+=é"


def written_by_programs(value: str) -> list[str]:
    """As a log contains it that was written by a program, not by a test."""
    single = value.replace("'", "'\\''")
    return [
        f"'{single}'",
        shlex.quote(value),
        value.replace("'", "''"),
        value.replace('"', '""'),
        repr(value),
        ascii(value),
        repr(f'{value}" and more'),
        repr(value.encode()),
        html.escape(value),
        html.escape(value, quote=False),
        html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
        saxutils.escape(value, {"'": "&apos;", '"': "&quot;"}),
        json.dumps(json.dumps(value)),
        json.dumps(value).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
        value.replace("\\", "\\\\").replace("'", "\\'"),
        re.sub(r"([^A-Za-z0-9_\x80-\U0010ffff])", r"\\\1", value),
    ]


@pytest.mark.parametrize("value", [NASTY, "it's", 'say "hello" & go', "a b\\c'd", "x=<1>&'y'"])
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_encoded_forms_of_a_secret_are_hidden(value: str, size: int) -> None:
    for text in written_by_programs(value):
        data = f"begin {text} end".encode()
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        masked_text = mask([value], *pieces)
        assert MARK in masked_text and len(masked_text) <= len(b"begin ** *** ** end") + 6, (
            text,
            masked_text,
        )


@pytest.mark.parametrize(
    ("value", "leftover"),
    [
        (NASTY, b"p4ss"),
        ("it's", b"it"),
        ("two\nlines and\tmore", b"lines"),
        ("a\x01\x1bb'\\z", b"z"),
    ],
)
def test_quoted_forms_of_a_secret_are_hidden(value: str, leftover: bytes) -> None:
    script = 'printf "%q\\n" "$S"; declare -p S; set | grep -a ^S=; set -x; : "$S"'
    ran = subprocess.run(
        ["bash", "-c", script],
        env={"S": value, "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
    )
    masked_text = mask([value], ran.stderr + ran.stdout)
    assert masked_text.count(MARK) >= 4, masked_text
    assert leftover not in masked_text, masked_text


def test_the_number_of_forms_is_bounded() -> None:
    assert len(_quoted_forms(NASTY, NASTY.encode())) <= MAX_FORMS
    many = "\n".join(f"{n:05d} it's" for n in range(1_500))
    forms = encoded_forms(many)
    assert len(forms) < MAX_LINES * MAX_FORMS
    assert mask([many], b"say 01400 it's!") == b"say ***!"
