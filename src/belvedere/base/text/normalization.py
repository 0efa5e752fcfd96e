"""Unicode normalization whose time grows with the text.

`unicodedata.normalize` sorts the marks behind a letter by moving each past the others: a text of
100,000 marks takes it a minute, in which no other thread runs.
"""

import unicodedata
from typing import Literal

# Marks in a row. No language needs as many (Unicode Standard Annex 15, Stream-Safe Text Format).
MAX_MARKS = 30

Form = Literal["NFC", "NFKC"]


class TooManyMarks(ValueError):
    """More marks on one letter than any language has."""


def normalized(form: Form, text: str) -> str:
    """The normal form of a text; TooManyMarks when it has more than MAX_MARKS in a row."""
    if text.isascii():
        return text
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run > MAX_MARKS:
            raise TooManyMarks(f"more than {MAX_MARKS} marks on one letter")
    return unicodedata.normalize(form, text)
