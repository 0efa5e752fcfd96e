"""Checks of monitors: one file per kind, loaded when needed.

A check is a coroutine with its configuration and a memory that lasts from one check to the next. It
returns an `Outcome`; an exception counts as a failure. The caller enforces the timeout.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from belvedere.agent.checks.outcome import Outcome

Check = Callable[[dict[str, Any], dict[str, Any]], Awaitable[Outcome]]

# Scripts are run by the keeper: see monitoring/script_checks.py.
KINDS = frozenset({"scraper", "dstat", "process", "file", "tcp", "ping", "dns", "tls"})


def check_of(kind: str) -> Check | None:
    """The check of this kind; None for an unknown kind. Kinds without monitors are not loaded."""
    if kind not in KINDS:
        return None
    check: Check = import_module(f"belvedere.agent.checks.kinds.{kind}").check
    return check
