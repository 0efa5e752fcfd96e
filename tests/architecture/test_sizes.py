"""A folder fits on a screen and a file is read in one go."""

from collections import Counter
from pathlib import PurePosixPath

from architecture.source import check, modules

MAX_FILES = 12
MAX_LINES = 400
MIN_LINES = 40
# One file per kind, which the agent loads only when it is used.
ONE_PER_KIND = "agent/checks/kinds/"
ENTRY_POINTS = ("__init__.py", "__main__.py")
# Old names that processes of the previous version import after an upgrade; two lines each.
COMPATIBILITY = (
    "agent/blotting.py",
    "agent/checks/program.py",
    "agent/removal.py",
    "base/masking.py",
    "notifications/courier.py",
)
# The command line that starts the keeper, the checker and other helpers: it belongs to none.
SEPARATE = ("agent/boot.py",)


def test_folders_are_small() -> None:
    paths = [PurePosixPath(module.path) for module in modules()]
    count = Counter(str(path.parent) for path in paths if path.name not in ENTRY_POINTS)
    check("large folders", {folder: n for folder, n in count.items() if n > MAX_FILES})


def test_files_are_not_large() -> None:
    check("large files", {m.path: m.lines for m in modules() if m.lines > MAX_LINES})


def test_files_are_not_tiny() -> None:
    names = [m.path for m in modules() if m.lines < MIN_LINES and not m.path.endswith(ENTRY_POINTS)]
    names = [name for name in names if name not in (*COMPATIBILITY, *SEPARATE)]
    names = [name for name in names if not name.startswith(ONE_PER_KIND)]
    check("small files", dict.fromkeys(names, 1))
