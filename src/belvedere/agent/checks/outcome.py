"""The result of a check."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from belvedere.agent.json_lines import writer
from belvedere.base.errors import Invalid
from belvedere.base.text import connection_errors
from belvedere.base.text.json_text import check_depth, clean
from belvedere.base.text.masking import Masker

# Larger data of a check is dropped.
MAX_DATA = 64 * 1024
_to_json = writer(allows_nan=False)
# A surrogate, also of a pair that is one valid character.
_SURROGATE = "\\ud"


@dataclass(slots=True)
class Outcome:
    state: Literal["normal", "failure", "changed"]
    # An event name such as scraper:mismatch:status_code, and a sentence.
    event: str = ""
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    # Numbers that are stored over time.
    measured: dict[str, float] = field(default_factory=dict)


def sanitize(outcome: Outcome) -> Outcome:
    """The outcome as it can be sent and stored. Responses and scripts may contain unpaired
    surrogates, NaN and deep nesting; a result that the server refuses would be sent again with
    every connection."""
    outcome.event, outcome.message = clean(outcome.event), clean(outcome.message)
    outcome.measured = {name: x for name, x in outcome.measured.items() if isfinite(x)}
    try:
        written = _to_json(outcome.data)
        check_depth(written, outcome.data)
        if len(written) > MAX_DATA or _SURROGATE in written:
            # Escapes are longer than the characters that they stand for.
            written = json.dumps(outcome.data, ensure_ascii=False)
        is_good = len(written.encode()) <= MAX_DATA
    except (ValueError, TypeError, RecursionError, Invalid):
        is_good = False
    outcome.data = outcome.data if is_good else {}
    return outcome


def masked(text: str, values: Sequence[str]) -> str:
    """The text without credentials, which a response or the output of a script may repeat."""
    if not values:
        return text
    masker = Masker(values)
    masked_text = masker.feed(text.encode("utf-8", "surrogatepass")) + masker.finish()
    return masked_text.decode("utf-8", "replace")


def explain(fault: BaseException, place: str = "") -> str:
    """A sentence, also for exceptions without a message. `place`: what was connected to."""
    sentence = connection_errors.describe(fault, place)
    if sentence is not None:
        return sentence
    text = str(getattr(fault, "strerror", None) or fault) or type(fault).__name__
    return text if text.endswith(".") else f"{text}."
