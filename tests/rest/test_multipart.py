"""A file and its fields in multipart/form-data."""

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import BadMediaType, Invalid, TooLarge
from belvedere.rest.bodies.multipart import MAX_PARTS, clean_name, read

TYPE = "multipart/form-data; boundary=frontier"


def part(disposition: str, data: bytes, extra: str = "") -> bytes:
    head = f"--frontier\r\nContent-Disposition: form-data; {disposition}\r\n{extra}\r\n"
    return head.encode() + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--frontier--\r\n"


def file(data: bytes, name: str = "run.sh") -> bytes:
    return part(f'name="file"; filename="{name}"', data, "Content-Type: text/x-sh\r\n")


def test_a_form_with_a_file_is_read() -> None:
    upload = read(TYPE, form(part('name="description"', b"Says hello"), file(b"#!/bin/sh\n")))
    assert (upload.filename, upload.mimetype) == ("run.sh", "text/x-sh")
    assert upload.content == b"#!/bin/sh\n"
    assert upload.fields == {"description": "Says hello"}


@hypothesis.given(data=st.binary(max_size=3_000))
def test_any_bytes_are_passed_unchanged(data: bytes) -> None:
    hypothesis.assume(b"--frontier" not in data)
    assert read(TYPE, form(file(data))).content == data


def test_a_form_without_a_file_has_only_fields() -> None:
    upload = read(TYPE, form(part('name="tags"', b"[]")))
    assert upload.content is None
    assert upload.fields == {"tags": "[]"}


@pytest.mark.parametrize(
    "text, actual_text",
    [
        ("run.sh", "run.sh"),
        ("../../etc/passwd", "passwd"),
        ("C:\\scripts\\run.bat", "run.bat"),
        ("a\x1b[31m\nb", "a[31mb"),
        ("  spaced name.txt ", "spaced name.txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("e\u0301", "é"),
    ],
)
def test_a_file_name_loses_folders_and_special_characters(text: str, actual_text: str) -> None:
    assert clean_name(text) == actual_text


@pytest.mark.parametrize("name", ["", ".", "..", "folder/", "\0", "é" * 128])
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        clean_name(name)


@pytest.mark.parametrize(
    "raw",
    [
        b"nothing",
        form(file(b"x"))[:-20],
        form(file(b"x"), file(b"y")),
        form(part('name="a"', b"1"), part('name="a"', b"2")),
        form(part('name="a"', b"\xff")),
        form(part('name="a"', b"a\0b")),
    ],
)
def test_an_invalid_form_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid):
        read(TYPE, raw)


def test_a_form_that_is_too_large_is_refused() -> None:
    parts = [part(f'name="f{n}"', b"") for n in range(MAX_PARTS)]
    assert len(read(TYPE, form(*parts)).fields) == MAX_PARTS
    with pytest.raises(TooLarge):
        read(TYPE, form(*parts, part('name="one more"', b"")))
    with pytest.raises(TooLarge):
        read(TYPE, form(part('name="a"', b"x" * 70_000)))
    with pytest.raises(Invalid):
        read(TYPE, form(part('name="a"', b"", "X-Long: " + "x" * 9_000 + "\r\n")))


def test_another_content_type_is_refused() -> None:
    with pytest.raises(BadMediaType):
        read("application/json", b"{}")
    with pytest.raises(Invalid):
        read("multipart/form-data", b"")
    with pytest.raises(Invalid):
        read("multipart/form-data; boundary=" + "x" * 71, b"")


@hypothesis.given(raw=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        read(TYPE, b"--frontier\r\n" + raw + b"\r\n--frontier--")
    except Invalid:
        return
