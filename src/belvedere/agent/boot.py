"""How the agent starts processes of its own kind."""

import sys
from pathlib import Path

import belvedere

BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {} import main; sys.exit(main())"


def command(module: str) -> list[str]:
    """The `main` of this module, without site packages, the person's settings and whatever lies in
    the folder where somebody stood: a smaller process that nothing else gets into."""
    package = str(Path(belvedere.__file__).parent.parent)
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT.format(module), package]
