"""Bodies with files in data URLs, parsed without needless copies of the files.

The content of each large file is taken out of the body before the rest is parsed. A text of the
whole body would be another copy, four times as large if one of its characters is wide (an emoji).
"""

import codecs
import json
import secrets
from collections.abc import Iterator
from urllib.parse import quote, unquote_to_bytes

from belvedere.base.errors import Invalid, TooLarge
from belvedere.base.text import json_text
from belvedere.rest import fields

# Smaller bodies are parsed directly.
MIN_BODY = 1 << 20
# Only a file can be longer than this (MAX_EACH of the arguments); shorter contents stay in place.
MIN_CONTENT = 128 * 1024
# The body without its large files.
MAX_REST = 4 << 20
# Bytes that are decoded at once.
STEP = 1 << 16
_START = b";base64,"
_ASCII = "".join(map(chr, range(128)))
# Replaced first, because urllib needs a microsecond for each escape.
_BASE64_ESCAPES = ((b"%2B", b"+"), (b"%2b", b"+"), (b"%2F", b"/"), (b"%2f", b"/"), (b"%3D", b"="))
Span = tuple[int, int]


def parse_json(raw: bytes) -> object:
    """Like `json_text.parse`; names in the heads of large files are percent-encoded."""
    if len(raw) <= MIN_BODY:
        value: object = json_text.parse(raw)
        return value
    spans, mark = list(_contents(raw)), _new_mark()
    return _restore(json_text.parse(_without(raw, spans, mark)), mark, raw, spans)


def parse_form(raw: bytes) -> dict[str, list[str]]:
    """Like `fields.read`, for the bytes of a form."""
    if len(raw) <= MIN_BODY:
        return fields.read(raw.decode())
    spans, mark = list(_long_fields(raw)), _new_mark()
    numbers = {f"{mark}{number}": span for number, span in enumerate(spans)}
    return {
        name: [
            "".join(_unquoted(raw, *numbers[value])) if value in numbers else value
            for value in values
        ]
        for name, values in fields.read(_without(raw, spans, mark).decode()).items()
    }


def _new_mark() -> str:
    """Nobody can guess it, so it occurs only where a content was."""
    return secrets.token_hex(16)


def _without(raw: bytes, spans: list[Span], mark: str) -> bytes:
    """The body with the mark and the number of each content in its place."""
    if len(raw) - sum(end - start for start, end in spans) > MAX_REST:
        raise TooLarge(f"The body may have at most {MAX_REST} bytes besides the contents of files.")
    pieces: list[bytes] = []
    at = 0
    for number, (start, end) in enumerate(spans):
        pieces += (raw[at:start], f"{mark}{number}".encode())
        at = end
    return b"".join((*pieces, raw[at:]))


def _contents(raw: bytes) -> Iterator[Span]:
    """Large contents in JSON: from `;base64,` to the quote that ends the string."""
    end = 0
    while (start := raw.find(_START, end)) >= 0:
        start += len(_START)
        end = raw.find(b'"', start)
        if end < 0:
            return
        if end - start > MIN_CONTENT and raw[end - 1 : end] != b"\\":
            yield start, end


def _restore(value: object, mark: str, raw: bytes, spans: list[Span]) -> object:
    if isinstance(value, str):
        head, _, number = value.partition(mark)
        return _data_url(head, raw, *spans[int(number)]) if number else value
    if isinstance(value, list):
        return [_restore(item, mark, raw, spans) for item in value]
    if isinstance(value, dict):
        if any(mark in key for key in value):
            raise Invalid("A name in the JSON is too long.", code="malformed_json")
        return {key: _restore(item, mark, raw, spans) for key, item in value.items()}
    return value


def _data_url(head: str, raw: bytes, start: int, end: int) -> str:
    head = _narrow(head)
    try:
        if raw.find(b"\\", start, end) >= 0:
            return "".join((head, *_unescaped(raw, start, end)))
        first = start - len(head)
        if first >= 0 and raw.startswith(head.encode(), first):
            return str(memoryview(raw)[first:end], "ascii")
        return head + str(memoryview(raw)[start:end], "ascii")
    except ValueError:
        raise Invalid("The content of a file is not base64.", code="malformed_json") from None


def _unescaped(raw: bytes, start: int, end: int) -> Iterator[str]:
    """A content whose slashes or other characters are escaped (`\\/`, `\\u002b`)."""
    while start < end:
        stop = min(start + STEP, end)
        escape = raw.rfind(b"\\", max(start + 1, stop - 6), stop) if stop < end else -1
        stop = escape if escape > 0 else stop
        yield json.loads(b'"%b"' % raw[start:stop])
        start = stop


def _long_fields(raw: bytes) -> Iterator[Span]:
    """Long values in a form."""
    if raw.count(b"&") >= fields.MAX_FIELDS:
        return
    end = -1
    while end < len(raw):
        field = end + 1
        end = raw.find(b"&", field)
        end = len(raw) if end < 0 else end
        start = raw.find(b"=", field, end) + 1
        if start and end - start > MIN_CONTENT:
            yield start, end


def _unquoted(raw: bytes, start: int, end: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    while start < end:
        stop = min(start + STEP, end)
        escape = raw.rfind(b"%", max(start + 1, stop - 2), stop) if stop < end else -1
        stop = escape if escape > 0 else stop
        piece = raw[start:stop].replace(b"+", b" ")
        for escaped, character in _BASE64_ESCAPES:
            piece = piece.replace(escaped, character)
        start = stop
        yield _narrow(decoder.decode(unquote_to_bytes(piece), start == end))


def _narrow(text: str) -> str:
    """Only the name of a file can have other characters; it may be percent-encoded."""
    return text if text.isascii() else quote(text, safe=_ASCII)
