"""Texts in bodies: names, descriptions, tags. Errors name the field."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from belvedere.base.errors import Fault, Invalid

MAX_LINE = 256
MAX_PROSE = 64 * 1024
MAX_TAGS = 64
MAX_TAG = 64
# Characters that normalization can combine into one.
COMPOSED = 4
# Marks in a row. No language needs as many (Unicode Standard Annex 15, Stream-Safe Text Format).
MAX_MARKS = 30

Form = Literal["NFC", "NFKC"]


class TooManyMarks(ValueError):
    """More marks on one letter than any language has."""


def normalize(form: Form, text: str) -> str:
    """The normal form of a text, in time that grows with the text; TooManyMarks for more than
    MAX_MARKS in a row. `unicodedata.normalize` sorts the marks after a letter in quadratic time:
    100,000 marks take a minute, during which no other thread runs."""
    if text.isascii():
        return text
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run > MAX_MARKS:
            raise TooManyMarks(f"more than {MAX_MARKS} marks on one letter")
    return unicodedata.normalize(form, text)


def invalid_field(field: str, message: str) -> Invalid:
    return Invalid(f"{field}: {message}", code="invalid_body", faults=(Fault(field, message),))


def line(field: str, text: str, *, most: int = MAX_LINE, least: int = 0) -> str:
    """One line of printable text, without leading and trailing spaces."""
    if len(text) > COMPOSED * most + MAX_LINE:
        raise invalid_field(field, f"Must have {least} to {most} characters.")
    try:
        normalized = normalize("NFC", text).strip()
    except TooManyMarks as fault:
        raise invalid_field(field, f"The text has {fault}.") from None
    if not normalized.isprintable():
        raise invalid_field(field, "Must be one line of printable text.")
    if not least <= len(normalized) <= most:
        raise invalid_field(field, f"Must have {least} to {most} characters.")
    return normalized


def prose(field: str, text: str, *, most: int = MAX_PROSE) -> str:
    """Any text that both databases can store."""
    if len(text) > most:
        raise invalid_field(field, f"At most {most} characters are allowed.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise invalid_field(
            field, "The text contains invalid characters (NUL or an unpaired surrogate)."
        )
    return text


def tags(field: str, texts: Sequence[str]) -> list[str]:
    """Tags without duplicates, in their order."""
    if len(texts) > MAX_TAGS:
        raise invalid_field(field, f"At most {MAX_TAGS} tags are allowed.")
    lines = (line(f"{field}[{n}]", tag, most=MAX_TAG, least=1) for n, tag in enumerate(texts))
    return list(dict.fromkeys(lines))


def faults_of(
    field: str, check: Callable[..., object], *values: object, **limits: int
) -> Iterator[Fault]:
    """Turn the exception of a check into a fault of this field."""
    try:
        check(*values, **limits)
    except Invalid as refused:
        yield Fault(field, refused.faults[0].message if refused.faults else refused.message)
