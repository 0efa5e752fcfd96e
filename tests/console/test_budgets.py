"""How much a browser fetches before it shows anything, and how much a release carries."""

from belvedere.server.console.shelf import STATIC, load
from console import budget

# Thousands of bytes as they go over the wire, packed by gzip.
FIRST_SCRIPTS = 220
FIRST_STYLES = 42
EVERYTHING = 1_500


def test_it_works() -> None:
    """What the notes name is there, and the page asks for it."""
    scripts, styles = budget.first(budget.manifest())
    page = load(STATIC).index(0)
    assert page is not None and scripts and styles
    assert scripts | styles <= set(load(STATIC).files)
    assert any(name.encode() in page for name in scripts)


def test_the_first_scripts_are_small() -> None:
    sizes = {name: budget.packed(name) for name in budget.first(budget.manifest())[0]}
    assert sum(sizes.values()) <= FIRST_SCRIPTS * budget.KB, sizes


def test_the_first_styles_are_small() -> None:
    sizes = {name: budget.packed(name) for name in budget.first(budget.manifest())[1]}
    assert sum(sizes.values()) <= FIRST_STYLES * budget.KB, sizes


def test_the_whole_console_is_small() -> None:
    sizes = budget.whole()
    assert len(sizes) > 10
    assert sum(sizes.values()) <= EVERYTHING * budget.KB, sorted(sizes.values())[-5:]
