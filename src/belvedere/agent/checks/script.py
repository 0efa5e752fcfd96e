"""A script of a person, run as a check: its exit code and its last line say how it went.

It runs in a session of its own below the agent, with the agent's rights. What it leaves running in
that session is ended with it; whatever moves to a session of its own is not ours to find here.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from typing import Any

from belvedere.agent.checks.outcome import Outcome, explain

GOOD = frozenset({"success", "normal", "ok"})
BAD = frozenset({"failure", "fail", "error"})
MOST_OUTPUT = 64 * 1024
KEPT = ("PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME")


async def check(config: dict[str, Any], _: dict[str, Any]) -> Outcome:
    folder = tempfile.mkdtemp(prefix="belvedere-check-")
    try:
        script = _written(folder, config)
        code, said = await _run(_words(config, script), folder)
    except OSError as fault:
        return Outcome(
            "failure", "script:error:start", f"It could not be started: {explain(fault)}"
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return judged(code, said)


def _written(folder: str, config: dict[str, Any]) -> str:
    path = f"{folder}/{os.path.basename(config['filename']) or 'script'}"
    with open(path, "wb") as file:
        file.write(base64.b64decode(config["source"]))
    os.chmod(path, 0o755)
    return path


def _words(config: dict[str, Any], script: str) -> list[str]:
    """The command line: runas with the script in its place, then the arguments."""
    runas = [sys.executable if word == "%python%" else word for word in config["runas"]]
    command = [word.replace("%script%", script) for word in runas]
    if command == runas:
        command.append(script)
    if not runas and not _names_interpreter(script):
        command = ["bash", script]
    return [*command, *config["script_arguments"]]


def _names_interpreter(script: str) -> bool:
    with open(script, "rb") as file:
        return file.read(4).startswith((b"#!", b"\x7fELF"))


async def _run(words: list[str], folder: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env={name: os.environ[name] for name in KEPT if name in os.environ},
        start_new_session=True,
    )
    assert process.stdout is not None
    tail = b""
    try:
        while part := await process.stdout.read(65_536):
            tail = (tail + part)[-MOST_OUTPUT:]
        await process.wait()
    finally:
        # At its deadline, or for what it left behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.returncode is None:
            await process.wait()
    return process.returncode or 0, tail.decode("utf-8", "replace")


def judged(code: int, said: str) -> Outcome:
    """By the rules of jobs: the exit code first, then the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    word, event, data = _told(last)
    data = {"code": code, "lastline": last[:1_000], **data}
    if code != 0:
        return Outcome("failure", event or "failure", f"exit code {code}: {last[:200]}", data)
    if word in BAD:
        return Outcome("failure", event or "failure", last[:200], data)
    if word == "changed":
        return Outcome("changed", event or "changed", last[:200], data)
    return Outcome("normal", event or "success", last[:200], data)


def _told(last: str) -> tuple[str, str, dict[str, Any]]:
    """(state, event, data) of a last line that is a word or a JSON object."""
    if last.lower() in GOOD | BAD | {"changed"}:
        return last.lower(), "", {}
    try:
        said = json.loads(last)
    except (ValueError, RecursionError):
        return "", "", {}
    if not isinstance(said, dict):
        return "", "", {}
    output = said.get("data", said.get("output"))
    data = {"output": output} if output is not None else {}
    return str(said.get("state", "")).lower(), str(said.get("event_name", "")), data
