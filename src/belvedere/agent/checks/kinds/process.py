"""The number of processes whose command line contains a text."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from belvedere.agent.checks.outcome import Outcome, explain
from belvedere.base.errors import Invalid
from belvedere.base.text.regex import compile_pattern
from belvedere.base.text.search import CooperativeSearch, TooCostly

# After this number of processes, other tasks may run.
YIELD_AFTER = 200
MAX_LINE = 4_096


async def check(config: dict[str, Any], _: dict[str, Any]) -> Outcome:
    try:
        pids = [pid async for pid in _matching(config)]
    except (TooCostly, Invalid) as fault:
        return Outcome("failure", "process:error:pattern", explain(fault))
    count, least, most = len(pids), config["least"], config["most"]
    data = {"count": count, "pids": pids[:20]}
    measured = {"count": float(count)}
    if count < least:
        message = f"{count} processes with {config['raw_search']!r}, expected at least {least}"
        return Outcome("failure", "process:missing", message, data, measured)
    if most is not None and count > most:
        message = f"{count} processes with {config['raw_search']!r}, expected at most {most}"
        return Outcome("failure", "process:too_many", message, data, measured)
    return Outcome("normal", "success", f"{count} processes", data, measured)


async def _matching(config: dict[str, Any]) -> AsyncIterator[int]:
    search_text: str = config["raw_search"]
    search = CooperativeSearch(compile_pattern(search_text)) if config["is_regexp"] else None
    for n, name in enumerate(os.listdir("/proc")):
        if n % YIELD_AFTER == YIELD_AFTER - 1:
            await asyncio.sleep(0)
        if not name.isdigit():
            continue
        line = _command_line(name)
        if search_text in line if search is None else line and await search.contains_match(line):
            yield int(name)


def _command_line(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(MAX_LINE)
    except OSError:
        # It ended in the meantime.
        return ""
    return words.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
