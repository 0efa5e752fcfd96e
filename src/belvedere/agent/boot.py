"""The command line of helper processes of the agent."""

import sys
from pathlib import Path

import belvedere

BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {} import main; sys.exit(main())"


def command(module: str) -> list[str]:
    """Run `main` of this module without site packages, user settings and the current folder: a
    smaller process that loads no code from elsewhere."""
    package = str(Path(belvedere.__file__).parent.parent)
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT.format(module), package]
