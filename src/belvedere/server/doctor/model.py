"""What a check finds, and what it may look at."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from belvedere.base.clock import Millis
from belvedere.db.readonly import ReadOnlyDatabase
from belvedere.settings import Settings

# So many sentences of one kind are told; the rest is counted.
TOLD = 10


class Finding(msgspec.Struct):
    """One line of the report. Only a problem makes the doctor's exit status 1."""

    check: str
    verdict: Literal["ok", "notice", "problem"]
    found: str
    # What to do about it; empty when all is well.
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """An installation: its settings, its databases, and the time."""

    settings: Settings
    db: ReadOnlyDatabase
    logs: ReadOnlyDatabase
    now: Millis
    # Called with how many records of a long check are done, and how many there are.
    tell: Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    work: Callable[[Patient], Iterable[Finding]]
    # The engine that it is for; empty: both.
    engine: str = ""


def ok(check: str, found: str) -> Finding:
    return Finding(check, "ok", found)


def notice(check: str, found: str, advice: str) -> Finding:
    return Finding(check, "notice", found, advice)


def problem(check: str, found: str, advice: str) -> Finding:
    return Finding(check, "problem", found, advice)


def problems(check: str, faults: Sequence[str], advice: str) -> list[Finding]:
    """A line for each fault, as far as anybody would read them."""
    found = [problem(check, fault, advice) for fault in faults[:TOLD]]
    if len(faults) > TOLD:
        found.append(problem(check, f"And {len(faults) - TOLD} more like these.", advice))
    return found
