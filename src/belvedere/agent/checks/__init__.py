"""Checks of monitors: one file per kind, loaded when needed.

A check is a coroutine with its configuration and a memory that lasts from one check to the next. It
returns an `Outcome`; an exception counts as a failure. The caller enforces the timeout.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from belvedere.agent.checks.outcome import Outcome

Check = Callable[[dict[str, Any], dict[str, Any]], Awaitable[Outcome]]

# A kind is the name of a module of this package. Scripts are run by the keeper: see
# monitoring/script_checks.py.
PACKAGE = "belvedere.agent.checks.kinds"


def check_of(kind: str) -> Check | None:
    """The check of this kind; None for an unknown kind. Kinds without monitors are not loaded."""
    name = f"{PACKAGE}.{kind}"
    if not kind.isidentifier() or find_spec(name) is None:
        return None
    check: Check | None = getattr(import_module(name), "check", None)
    return check
