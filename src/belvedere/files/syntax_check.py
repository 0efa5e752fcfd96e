"""Checks the syntax of a script in a short-lived process with strict limits, so that deeply nested
or long input cannot harm the server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import PurePath

import msgspec

WITHIN_S = 10.0
MOST_FAULTS = 50
MAX_MESSAGE = 500

# The process limits itself, then parses the script or becomes the shell that does. Nothing is run.
_CHILD = """
import os, resource, sys
kind = sys.argv[1]
resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
if kind not in ("python", "json"):
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    os.execv(kind, [kind, "-n"])
import json
source = sys.stdin.buffer.read()
try:
    if kind == "json":
        json.loads(source)
    else:
        compile(source, "script", "exec", dont_inherit=True)
    faults = []
except SyntaxError as fault:
    faults = [[fault.lineno or 1, fault.offset or 1, fault.msg or "invalid syntax"]]
except json.JSONDecodeError as fault:
    faults = [[fault.lineno, fault.colno, fault.msg]]
except ValueError as fault:
    faults = [[1, 1, str(fault)]]
except (RecursionError, MemoryError):
    faults = [[1, 1, "nested too deeply, or too large"]]
os.write(1, json.dumps(faults).encode())
"""
_SHELL_FAULT = re.compile(r"^[^:]*: (?:line )?(\d+): (.*)$")
_EXTENSIONS = {".py": "python", ".sh": "sh", ".bash": "bash", ".json": "json"}
_INTERPRETERS = (("python", "python"), ("bash", "bash"), ("/sh", "sh"))


class ScriptFault(msgspec.Struct):
    """A syntax error; lines and columns count from 1."""

    line: int
    column: int
    message: str


class Checked(msgspec.Struct):
    """`checked` is false if the language is not supported; then an empty list of faults means
    nothing."""

    checked: bool
    language: str
    faults: list[ScriptFault]


def language_of(source: str, filename: str = "", runas: str = "") -> str:
    """The language, from the command, the first line or the file name; empty: unknown."""
    first = source.partition("\n")[0]
    for text in (runas, first if first.startswith("#!") else ""):
        # A command without a path, such as `sh %script%`, counts too.
        words = f"/{text.removeprefix('#!').strip()}".replace(" ", " /")
        languages = [language for word, language in _INTERPRETERS if word in words]
        if languages:
            return languages[0]
    return _EXTENSIONS.get(PurePath(filename).suffix.lower(), "")


def check(source: str, filename: str = "", runas: str = "") -> Checked:
    """Blocks until the process ends; call it on a thread."""
    language = language_of(source, filename, runas)
    kind = shutil.which(language, path=os.defpath) if language in ("sh", "bash") else language
    if not kind:
        return Checked(False, language, [])
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _CHILD, kind],
            input=source.encode(errors="replace"),
            capture_output=True,
            env={"LC_ALL": "C"},
            cwd="/",
            timeout=WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Checked(True, language, [ScriptFault(1, 1, "took too long to check")])
    faults = _of_shell(done) if language in ("sh", "bash") else _of_child(done)
    return Checked(True, language, faults[:MOST_FAULTS])


def _of_child(done: "subprocess.CompletedProcess[bytes]") -> list[ScriptFault]:
    if done.returncode != 0 or not done.stdout:
        # The parser crashed, or a limit ended it.
        return [ScriptFault(1, 1, "nested too deeply, or too large")]
    messages = msgspec.json.decode(done.stdout, type=list[tuple[int, int, str]])
    return [
        ScriptFault(max(line, 1), max(column, 1), text[:MAX_MESSAGE])
        for line, column, text in messages
    ]


def _of_shell(done: "subprocess.CompletedProcess[bytes]") -> list[ScriptFault]:
    if done.returncode == 0:
        return []
    lines = done.stderr.decode(errors="replace").splitlines()
    matches = [match for line in lines if (match := _SHELL_FAULT.match(line))]
    faults = [
        ScriptFault(int(match[1]), 1, match[2][:MAX_MESSAGE])
        for match in matches
        # bash also prints the faulty line, in quotes.
        if not match[2].startswith("`")
    ]
    return faults or [ScriptFault(1, 1, "cannot be read by the shell")]
