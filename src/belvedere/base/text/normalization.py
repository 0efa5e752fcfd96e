"""Unicode normalization whose time grows with the text.

`unicodedata.normalize` sorts the marks after a letter in quadratic time: a text of 100,000 marks
takes a minute, during which no other thread runs.
"""

import unicodedata
from typing import Literal

# Marks in a row. No language needs as many (Unicode Standard Annex 15, Stream-Safe Text Format).
MAX_MARKS = 30

Form = Literal["NFC", "NFKC"]


class TooManyMarks(ValueError):
    """More marks on one letter than any language has."""


def normalize(form: Form, text: str) -> str:
    """The normal form of a text; raises TooManyMarks for more than MAX_MARKS in a row."""
    if text.isascii():
        return text
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run > MAX_MARKS:
            raise TooManyMarks(f"more than {MAX_MARKS} marks on one letter")
    return unicodedata.normalize(form, text)
