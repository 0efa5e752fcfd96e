"""multipart/form-data: one file and a few plain fields."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from belvedere.base.errors import BadMediaType, Fault, Invalid, TooLarge
from belvedere.rest.text_fields import TooManyMarks, normalize

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MEDIA_TYPE = "multipart/form-data"
MAX_PARTS = 32
MAX_FIELD = 64 * 1024
MAX_NAME = 255
# With the folders that some browsers add.
MAX_PATH = 4_096
MAX_BOUNDARY = 70
# Parameters of a content type or a content disposition.
MAX_PARAMETERS = 16
# Headers of one part: their number, and the bytes of each.
MAX_HEADERS, MAX_HEADER = 8, 4 * 1024


@dataclass(slots=True)
class Upload:
    """The content of a form. `content` is None if it has no file."""

    filename: str = ""
    mimetype: str = ""
    content: bytes | None = None
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Part:
    headers: dict[str, bytes] = field(default_factory=dict)
    data: bytearray = field(default_factory=bytearray)
    header_name: bytes = b""
    header_value: bytes = b""


def is_multipart(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def read(content_type: str, raw: bytes) -> Upload:
    """Read a form whose size the server has already limited."""
    upload = Upload()
    for part in _parts(_boundary(content_type), raw):
        _add_part(upload, part)
    return upload


def clean_name(name: str) -> str:
    """A file's bare name: no folders, nothing with a meaning for terminals or file systems."""
    if len(name) > MAX_PATH:
        raise _invalid("filename", f"The file's name is longer than {MAX_NAME} bytes.")
    try:
        bare = normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    except TooManyMarks as fault:
        raise _invalid("filename", f"The file's name has {fault}.") from None
    cleaned = "".join(c for c in bare if c.isprintable() and not "\ud800" <= c <= "\udfff").strip()
    if cleaned in ("", ".", ".."):
        raise _invalid("filename", "The file has no usable name.")
    if len(cleaned.encode()) > MAX_NAME:
        raise _invalid("filename", f"The file's name is longer than {MAX_NAME} bytes.")
    return cleaned


def _boundary(content_type: str) -> bytes:
    if not is_multipart(content_type):
        raise BadMediaType(f"Send the file as {MEDIA_TYPE}.")
    boundary = _options(content_type).get(b"boundary", b"")
    if not 0 < len(boundary) <= MAX_BOUNDARY:
        raise Invalid("The form's boundary is missing or too long.", code="malformed_form")
    return boundary


def _options(header: str) -> dict[bytes, bytes]:
    if header.count(";") > MAX_PARAMETERS:
        message = f"A header of the form has more than {MAX_PARAMETERS} parameters."
        raise Invalid(message, code="malformed_form")
    return parse_options_header(header)[1]


def _parts(boundary: bytes, raw: bytes) -> list[_Part]:
    # Counted before parsing: each part costs a callback or two even when it is empty.
    if raw.count(b"--" + boundary) > MAX_PARTS + 1:
        raise TooLarge(f"A form may have at most {MAX_PARTS} fields.", code="too_many_fields")
    parts: list[_Part] = []
    parser = MultipartParser(
        boundary,
        _callbacks(parts),
        max_header_count=MAX_HEADERS,
        max_header_size=MAX_HEADER,
    )
    try:
        parser.write(raw)
        parser.finalize()
    except FormParserError:
        raise Invalid("The form is malformed or truncated.", code="malformed_form") from None
    if not raw.rstrip().endswith(b"--" + boundary + b"--"):
        raise Invalid("The form is truncated.", code="malformed_form")
    return parts


def _callbacks(parts: list[_Part]) -> "MultipartCallbacks":
    def header_field(data: bytes, start: int, end: int) -> None:
        parts[-1].header_name += data[start:end]

    def header_value(data: bytes, start: int, end: int) -> None:
        parts[-1].header_value += data[start:end]

    def header_end() -> None:
        part = parts[-1]
        part.headers[part.header_name.decode("latin-1").lower()] = part.header_value
        part.header_name = part.header_value = b""

    def part_data(data: bytes, start: int, end: int) -> None:
        parts[-1].data += data[start:end]

    return {
        "on_part_begin": lambda: parts.append(_Part()),
        "on_header_field": header_field,
        "on_header_value": header_value,
        "on_header_end": header_end,
        "on_part_data": part_data,
    }


def _add_part(upload: Upload, part: _Part) -> None:
    options = _options(part.headers.get("content-disposition", b"").decode("latin-1"))
    name = _text("name", options.get(b"name", b""))
    if b"filename" not in options:
        if len(part.data) > MAX_FIELD:
            raise TooLarge(f"The field {name!r} is longer than {MAX_FIELD} bytes.")
        if name in upload.fields:
            raise _invalid(name, f"The field {name!r} occurs twice.")
        upload.fields[name] = _text(name, bytes(part.data))
        return
    if upload.content is not None:
        raise _invalid(name, "Send one file at a time.")
    upload.filename = clean_name(_text("filename", options[b"filename"]))
    upload.mimetype = _text("content-type", part.headers.get("content-type", b"")).strip().lower()
    upload.content = bytes(part.data)


def _text(name: str, data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise _invalid(name, f"The field {name!r} is not UTF-8.") from None
    if "\0" in text:
        raise _invalid(name, f"The field {name!r} contains a NUL.")
    return text


def _invalid(name: str, message: str) -> Invalid:
    return Invalid(message, code="malformed_form", faults=(Fault(name, message),))
