"""What a check saw."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(slots=True)
class Outcome:
    state: Literal["normal", "failure", "changed"]
    # A word such as scraper:mismatch:status_code, and a sentence.
    event: str = ""
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    # What is kept over time.
    measured: dict[str, float] = field(default_factory=dict)


def explain(fault: BaseException) -> str:
    """A sentence, also for exceptions that carry none."""
    said = str(getattr(fault, "strerror", None) or fault) or type(fault).__name__
    return said if said.endswith(".") else f"{said}."
