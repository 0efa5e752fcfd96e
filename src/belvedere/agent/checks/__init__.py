"""What an agent can check: one small file per kind, and the table of them.

A check is a coroutine over its configuration and a memory of its own that lasts from one check to
the next. It gives an `Outcome`; what it raises counts as a failure. The deadline is kept outside.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from belvedere.agent.checks.outcome import Outcome

Check = Callable[[dict[str, Any], dict[str, Any]], Awaitable[Outcome]]

# Scripts are run by the keeper: see script.py.
KINDS = frozenset({"scraper", "dstat", "process", "file", "tcp", "ping", "dns", "tls"})


def check_of(kind: str) -> Check | None:
    """The check of this kind; an agent that checks nothing of a kind does not load it either."""
    if kind not in KINDS:
        return None
    check: Check = import_module(f"belvedere.agent.checks.kinds.{kind}").check
    return check
