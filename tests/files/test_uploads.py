"""Files as they are sent: forms and JSON."""

import base64
import json

import pytest
from msgspec import UNSET

from belvedere.base.errors import Invalid
from belvedere.files.uploads import read

JSON = "application/json"
FORM = "multipart/form-data; boundary=frontier"


def form(*parts: tuple[str, bytes]) -> bytes:
    body = b""
    for disposition, data in parts:
        body += f"--frontier\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode()
        body += data + b"\r\n"
    return body + b"--frontier--\r\n"


def test_an_upload_form_is_read() -> None:
    text = read(
        FORM,
        form(
            ('name="file"; filename="a.sh"', b"#!/bin/sh\n"),
            ('name="description"', b"Says hello"),
            ('name="tags"', b'["x", "y"]'),
            ('name="_type"', b"Script"),
            ('name="public"', b"true"),
        ),
    )
    assert (text.filename, text.content, text.kind) == ("a.sh", b"#!/bin/sh\n", "Script")
    assert (text.description, text.tags) == ("Says hello", ["x", "y"])


def test_json_gives_the_text_or_its_base64() -> None:
    as_text = read(JSON, json.dumps({"filename": "a", "source": "é"}).encode())
    data = base64.b64encode("é".encode()).decode()
    as_data = read(JSON, json.dumps({"filename": "a", "data": data, "more": 1}).encode())
    assert as_text == as_data
    assert as_text.content == "é".encode()


def test_absent_fields_stay_unset() -> None:
    text = read(JSON, b'{"description": ""}')
    assert (text.description, text.content, text.filename) == ("", UNSET, UNSET)
    text = read(FORM, form(('name="tags"', b"a, b ,")))
    assert (text.tags, text.content, text.description) == (["a", "b"], UNSET, UNSET)


@pytest.mark.parametrize(
    "content_type, raw",
    [
        (JSON, b'{"filename": 7, "source": []}'),
        (JSON, b'{"filename": "a", "source": "x", "data": "eA=="}'),
        (JSON, b'{"filename": "a", "data": "?"}'),
        (JSON, b"{"),
        (JSON, b"[]"),
        (FORM, b"--frontier"),
        (FORM, form(('name="tags"', b"[1]"))),
        (FORM, form(('name="tags"', b"["))),
    ],
)
def test_bad_input_is_refused(content_type: str, raw: bytes) -> None:
    with pytest.raises(Invalid):
        read(content_type, raw)
