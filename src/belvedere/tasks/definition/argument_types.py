"""The types of arguments: one row per type, with the check of its values and of its definition."""

import base64
import io
import json
import mimetypes
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from belvedere.base.errors import Fault, Invalid
from belvedere.base.text import json_text
from belvedere.rest import text_fields
from belvedere.rest.bodies.multipart import clean_name
from belvedere.rest.patterns import matcher
from belvedere.tasks.model import Argument, ArgumentKind

MAX_FILE = 32 << 20
MAX_OPTIONS = 1_000
# Characters of base64, a multiple of four.
DECODE_STEP = 1 << 20
_EMAIL = re.compile(r"[^\s@<>,;:\"\\]{1,64}@[^\s@<>,;:\"\\]{1,189}")
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,62}")
UNKNOWN_MEDIA_TYPE = "application/octet-stream"


class FileValue(msgspec.Struct, frozen=True):
    """An argument that is a file; the agent writes it to disk and passes its path."""

    filename: str
    mimetype: str
    content: bytes


class InvalidArgument(Exception):
    """The value is not valid; the message completes the sentence "The argument …"."""


Value = str | FileValue
Check = Callable[[Argument, str, object], Value]
Faults = Iterator[Fault]


def convert(definition: Argument, value: object) -> Value:
    """The value as the script gets it; raises InvalidArgument if it is not allowed."""
    as_text = text_of(value)
    check = TYPES[definition.type].check
    return check(definition, as_text, value)


def definition_faults(definition: Argument) -> Faults:
    """What is wrong with a definition of this type; the fields of every type are checked before."""
    return TYPES[definition.type].definition_faults(definition)


def text_of(value: object) -> str:
    """A string unchanged, any other value as its JSON text."""
    if isinstance(value, str):
        return str(value)
    try:
        return json_text.compact(value)
    except RecursionError:
        raise InvalidArgument("is nested too deeply") from None
    except (TypeError, ValueError):
        raise InvalidArgument("is not a JSON value") from None


def fixed_value(definition: Argument) -> str:
    return "" if definition.value is None else text_of(definition.value)


def _text(definition: Argument, as_text: str, value: object) -> str:
    least, most = definition.charsmin, definition.charsmax
    if least is not None and len(as_text) < least:
        raise InvalidArgument(f"has fewer than {least} characters")
    if most is not None and len(as_text) > most:
        raise InvalidArgument(f"has more than {most} characters")
    return as_text


def _boolean(definition: Argument, as_text: str, value: object) -> str:
    if as_text not in ("true", "false"):
        raise InvalidArgument("must be true or false")
    return as_text


def _json(definition: Argument, as_text: str, value: object) -> str:
    try:
        json_text.parse(as_text)
    except Invalid as fault:
        raise InvalidArgument(f"is not JSON ({fault.message})") from None
    return as_text


def _select(definition: Argument, as_text: str, raw_value: object) -> str:
    allowed = {text_of(option.id) for option in definition.options}
    chosen = _several(as_text, raw_value) if definition.multiple else [as_text]
    unknown = [value for value in chosen if value not in allowed]
    if unknown:
        raise InvalidArgument(f"is not one of {', '.join(sorted(allowed)[:20])}")
    return json_text.compact(chosen) if definition.multiple else as_text


def _remote_options(definition: Argument, as_text: str, value: object) -> str:
    """Not checked: only the form knows the options, because the server does not fetch them."""
    return json_text.compact(_several(as_text, value)) if definition.multiple else as_text


def _several(as_text: str, raw_value: object) -> Sequence[str]:
    """A list of choices, or its JSON text; a single choice counts as a list of one."""
    values = raw_value
    if isinstance(raw_value, str):
        try:
            values = json.loads(as_text, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            values = [as_text]
    if not isinstance(values, list):
        values = [as_text]
    return [text_of(value) for value in values]


def _date(definition: Argument, as_text: str, value: object) -> str:
    try:
        datetime.fromisoformat(as_text)
    except ValueError:
        raise InvalidArgument("is not a date such as 2026-01-31 or 2026-01-31T08:00:00Z") from None
    return as_text


def _email(definition: Argument, as_text: str, value: object) -> str:
    if not _EMAIL.fullmatch(as_text):
        raise InvalidArgument("is not an e-mail address")
    return as_text


def _regexp(definition: Argument, as_text: str, value: object) -> str:
    if len(as_text) > matcher.MAX_TEXT:
        raise InvalidArgument(f"has more than {matcher.MAX_TEXT} characters")
    try:
        is_fit = matcher.compiled(definition.pattern).matches(as_text)
    except Invalid as refusal:
        # Stored by an earlier version, which had other limits.
        raise InvalidArgument(
            f"cannot be checked; change its pattern. {refusal.message[:-1]}"
        ) from None
    if not is_fit:
        raise InvalidArgument(f"does not match the pattern {definition.pattern}")
    return _text(definition, as_text, value)


def _file(definition: Argument, as_text: str, value: object) -> FileValue:
    """A data URL: `data:text/plain;name=a.txt;base64,SGk=`."""
    start = as_text.find(",") + 1
    head = as_text[: max(0, start - 1)]
    words = head.removeprefix("data:").split(";")
    if not (head.startswith("data:") and words[-1] == "base64"):
        raise InvalidArgument("is not a file; send it as data:<type>;name=<name>;base64,<content>")
    if (len(as_text) - start) * 3 // 4 > MAX_FILE:
        raise InvalidArgument(f"is a file of more than {MAX_FILE} bytes")
    try:
        content = _content(as_text, start)
    except ValueError:
        raise InvalidArgument("is a file whose content is not base64") from None
    filename = _filename(words)
    return FileValue(filename, media_type_of(words[0], filename), content)


def media_type_of(text: str, filename: str) -> str:
    """The type that the caller sent; if that says nothing, the usual one of the file name."""
    media_type = text.strip().lower()
    if media_type != UNKNOWN_MEDIA_TYPE and _MEDIA_TYPE.fullmatch(media_type):
        return media_type
    return mimetypes.guess_type(filename)[0] or UNKNOWN_MEDIA_TYPE


def _content(data_url: str, start: int) -> bytes:
    """The decoded rest of the text, in steps: no copy of a large text is made."""
    padding = data_url.find("=", start)
    if 0 <= padding < len(data_url) - 2:
        raise ValueError
    content = io.BytesIO()
    for at in range(start, len(data_url), DECODE_STEP):
        content.write(base64.b64decode(data_url[at : at + DECODE_STEP], validate=True))
    return content.getvalue()


def _filename(words: Sequence[str]) -> str:
    named = [word[5:] for word in words if word[:5].lower() == "name="]
    if not named:
        return f"file{mimetypes.guess_extension(words[0]) or ''}"
    try:
        return clean_name(unquote(named[0]))
    except Invalid as fault:
        raise InvalidArgument(f"has an invalid file name ({fault.message})") from None


def _need_options(definition: Argument) -> Faults:
    options = definition.options
    if not 1 <= len(options) <= MAX_OPTIONS:
        yield Fault("options", f"1 to {MAX_OPTIONS} options are allowed.")
        return
    ids = [text_of(option.id) for option in options]
    if len(set(ids)) != len(ids):
        yield Fault("options", "Two options have the same id.")
    for text in (*ids, *(option.label for option in options)):
        yield from text_fields.faults_of("options", text_fields.prose, "options", text, most=1_024)


def _need_pattern(definition: Argument) -> Faults:
    if not definition.pattern:
        yield Fault("pattern", "Specify the pattern that values must match.")


def _no_faults(_: Argument) -> Faults:
    yield from ()


class ArgumentType(NamedTuple):
    # Returns the value as the script gets it.
    check: Check
    # Yields the wrong fields of a definition.
    definition_faults: Callable[[Argument], Faults] = _no_faults


TYPES: dict[ArgumentKind, ArgumentType] = {
    ArgumentKind.FIXED: ArgumentType(lambda definition, as_text, value: fixed_value(definition)),
    ArgumentKind.INPUT: ArgumentType(_text),
    ArgumentKind.TEXTAREA: ArgumentType(_text),
    ArgumentKind.BOOLEAN: ArgumentType(_boolean),
    ArgumentKind.JSON: ArgumentType(_json),
    ArgumentKind.SELECT: ArgumentType(_select, _need_options),
    ArgumentKind.DATE: ArgumentType(_date),
    ArgumentKind.EMAIL: ArgumentType(_email),
    ArgumentKind.REGEXP: ArgumentType(_regexp, _need_pattern),
    ArgumentKind.FILE: ArgumentType(_file),
    ArgumentKind.REMOTE_OPTIONS: ArgumentType(_remote_options),
}
