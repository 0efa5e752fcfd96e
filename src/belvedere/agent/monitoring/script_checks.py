"""Stored scripts as checks: the exit code and the last line are the result.

The keeper runs them like the scripts of jobs: it ends all of their processes at the timeout, and
when the agent disconnects. They run as the agent's user, or as the one user that all scripts of
this agent run as.
"""

import asyncio
import base64
import itertools
import json
import random
from typing import Any

from belvedere.agent.checks.outcome import Outcome, masked
from belvedere.agent.file_cache import FileCache
from belvedere.agent.keeper_client import KeeperClient
from belvedere.agent.workdir.staging import basename

GOOD = frozenset({"success", "normal", "ok"})
BAD = frozenset({"failure", "fail", "error"})

# Keepers from this version on can run checks as another user.
RUNS_AS_OTHERS = 4

Report = dict[str, Any]


class ScriptChecks:
    """Passes scripts to the current keeper, and waits for their results."""

    def __init__(self, cache: FileCache, scripts_user: str = "") -> None:
        self._cache = cache
        # Empty: the agent's own user.
        self.scripts_user = scripts_user
        # The keeper's protocol version; an older keeper would run checks as the agent's user.
        self.keeper_version = 0
        self._keeper: KeeperClient | None = None
        self._ends: dict[int, asyncio.Future[Report]] = {}
        # Random start: the keeper may still run checks of a former agent process.
        self._numbers = itertools.count(random.randrange(1, 1 << 40))

    def attach(self, keeper: KeeperClient) -> None:
        """Use this keeper; checks of the last one are lost."""
        for end in self._ends.values():
            if not end.done():
                end.set_exception(OSError("the connection to the keeper was lost"))
        self._keeper = keeper
        keeper.check_listener = self._receive

    def _receive(self, message: dict[str, Any]) -> None:
        end = self._ends.get(message["number"])
        if end is not None and not end.done():
            end.set_result(message["report"])

    async def check(self, config: dict[str, Any], _: dict[str, Any]) -> Outcome:
        if config.get("problem"):
            return Outcome("failure", "script:config:secret", config["problem"])
        report = await self._run(config)
        match report["ending"]:
            case "timeout":
                raise TimeoutError
            case "error":
                message = f"The script could not be started: {report['message']}"
                return Outcome("failure", "script:error:start", message)
        last_line = masked(report.get("lastline", ""), config.get("masks", ()))
        return evaluate(report.get("code", 0), last_line)

    async def _run(self, config: dict[str, Any]) -> Report:
        keeper = self._keeper
        if keeper is None or keeper.lost.is_set():
            raise OSError("the keeper is not connected yet")
        if self.scripts_user and self.keeper_version < RUNS_AS_OTHERS:
            raise OSError("the keeper has an older version; it exits when its scripts have ended")
        number = next(self._numbers)
        end: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._ends[number] = end
        keeper.send(self._order(number, config))
        keeper.flush()
        try:
            return await end
        finally:
            del self._ends[number]
            if not end.done() or end.cancelled():
                keeper.send({"do": "uncheck", "number": number})
                keeper.flush()

    def _order(self, number: int, config: dict[str, Any]) -> dict[str, Any]:
        digest = self._cache.keep(base64.b64decode(config["source"]))
        script = self._cache.path(digest, basename(config["filename"]))
        if script is None:
            raise OSError("the script cannot be stored")
        return {
            "do": "check",
            "number": number,
            "script": script,
            "runas": config["runas"],
            "arguments": config["script_arguments"],
            "timeout_ms": config["timeout"],
            "os_user": self.scripts_user,
        }


def evaluate(code: int, output: str) -> Outcome:
    """The result by the rules of jobs: the exit code first, then the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    word, event, data = _parse_last_line(last)
    data = {"code": code, "lastline": last[:1_000], **data}
    if code != 0:
        return Outcome("failure", event or "failure", f"exit code {code}: {last[:200]}", data)
    if word in BAD:
        return Outcome("failure", event or "failure", last[:200], data)
    if word == "changed":
        return Outcome("changed", event or "changed", last[:200], data)
    return Outcome("normal", event or "success", last[:200], data)


def _parse_last_line(last: str) -> tuple[str, str, dict[str, Any]]:
    """(state, event, data) of a last line that is a word or a JSON object."""
    if last.lower() in GOOD | BAD | {"changed"}:
        return last.lower(), "", {}
    try:
        parsed = json.loads(last)
    except (ValueError, RecursionError):
        return "", "", {}
    if not isinstance(parsed, dict):
        return "", "", {}
    output = parsed.get("data", parsed.get("output"))
    data = {"output": output} if output is not None else {}
    return str(parsed.get("state", "")).lower(), str(parsed.get("event_name", "")), data
