"""Findings, and the installation that is checked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from belvedere.base.clock import Millis
from belvedere.db.readonly import ReadOnlyDatabase
from belvedere.settings import Settings

# Faults of one check that are listed; further ones are only counted.
MAX_FAULTS = 10


class Finding(msgspec.Struct):
    """One line of the report. Only a problem makes the exit status of `doctor` 1."""

    check: str
    verdict: Literal["ok", "notice", "problem"]
    message: str = msgspec.field(name="found")
    # What to do; empty when everything is fine.
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """What the checks read: settings, databases and the time."""

    settings: Settings
    db: ReadOnlyDatabase
    logs: ReadOnlyDatabase
    now: Millis
    # Called with the name of a long check, its finished records and all records.
    report: Callable[[str, int, int], None]
    # Checks read only the newest records of tables that grow.
    is_quick: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    work: Callable[[Installation], Iterable[Finding]]
    # Only for this engine; empty: both.
    engine: str = ""
    # Whether it takes no longer for a large database; the console runs only these.
    is_quick: bool = True
    # Whether its findings are about the installation alone, without names of organizations, hosts,
    # jobs and folders: every owner of several organizations may see them.
    is_public: bool = False

    def applies_to(self, installation: Installation) -> bool:
        return self.engine in ("", installation.db.dialect.name)


def ok(check: str, message: str) -> Finding:
    return Finding(check, "ok", message)


def notice(check: str, message: str, advice: str) -> Finding:
    return Finding(check, "notice", message, advice)


def problem(check: str, message: str, advice: str) -> Finding:
    return Finding(check, "problem", message, advice)


def limit_findings(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The first findings of one check, problems before notices, and how many more there are."""
    ordered = sorted(findings, key=lambda finding: finding.verdict == "notice")
    yield from ordered[:MAX_FAULTS]
    rest = ordered[MAX_FAULTS:]
    if rest:
        message = f"{len(rest)} more findings of this kind."
        yield Finding(rest[0].check, rest[0].verdict, message, rest[0].advice)


def problems(check: str, faults: Sequence[str], advice: str) -> list[Finding]:
    """One finding per fault, at most `MAX_FAULTS`."""
    findings = [problem(check, fault, advice) for fault in faults[:MAX_FAULTS]]
    if len(faults) > MAX_FAULTS:
        findings.append(problem(check, f"{len(faults) - MAX_FAULTS} more like this.", advice))
    return findings
