"""Builds the documentation: `docs_site.py CONSOLE OUT`, where CONSOLE is the built console.

With `--packed` as the server has it: compressed, with links to the console.
"""

import argparse
from pathlib import Path

from docsite.build import build, pack

ROOT = Path(__file__).parents[1]
# From /-/docs/.
CONSOLE = "../../ui"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("console", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packed", action="store_true")
    options = parser.parse_args()
    build(ROOT, options.console, options.out, CONSOLE if options.packed else "")
    if options.packed:
        pack(options.out)


if __name__ == "__main__":
    main()
