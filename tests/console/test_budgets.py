"""How much a browser loads before it shows anything, and the size of a release."""

from belvedere.server.console.assets import STATIC, load
from console import budget

# Thousands of bytes as they are transferred, compressed with gzip.
FIRST_SCRIPTS = 222
FIRST_STYLES = 42
GRAPH = 85
EDITOR = 160
# How the bundler shares small modules among pages changes it by some hundred bytes.
LOG = 10.5
JOBS = 11
EVERYTHING = 1_500

JOB = "src/pages/jobs/detail/JobPage.tsx"


def test_the_first_files_are_those_of_the_page() -> None:
    """The files that the build notes name exist, and the page requests them."""
    scripts, styles = budget.first_files(budget.manifest())
    page = load(STATIC).index(0)
    assert page is not None and scripts and styles
    assert scripts | styles <= set(load(STATIC).files)
    assert any(name.encode() in page for name in scripts)


def test_the_first_scripts_are_small() -> None:
    sizes = {name: budget.packed_size(name) for name in budget.first_files(budget.manifest())[0]}
    assert sum(sizes.values()) <= FIRST_SCRIPTS * budget.KB, sizes


def test_the_first_styles_are_small() -> None:
    sizes = {name: budget.packed_size(name) for name in budget.first_files(budget.manifest())[1]}
    assert sum(sizes.values()) <= FIRST_STYLES * budget.KB, sizes


def test_the_graph_adds_little_to_the_page_of_a_job() -> None:
    sizes = budget.added_sizes(budget.manifest(), "src/pages/jobs/detail/tabs/JobGraphTab.tsx", JOB)
    assert 50 * budget.KB < sum(sizes.values()) <= GRAPH * budget.KB, sizes


def test_the_editor_is_small() -> None:
    """With one language: Python, in which most scripts are written."""
    notes = budget.manifest()
    python = "node_modules/@codemirror/lang-python/dist/index.js"
    editor = "src/ui/editor/Editor.tsx"
    assert python in notes[editor]["dynamicImports"]
    sizes = budget.added_sizes(notes, editor) | budget.added_sizes(notes, python)
    assert 100 * budget.KB < sum(sizes.values()) <= EDITOR * budget.KB, sizes


def test_the_log_adds_little_to_the_page_of_a_job() -> None:
    notes = budget.manifest()
    sizes = budget.added_sizes(notes, "src/ui/log/LogView.tsx", JOB)
    assert 0 < sum(sizes.values()) <= LOG * budget.KB, sizes


def test_the_list_of_jobs_is_small() -> None:
    """The page itself; what it consists of is loaded already for other lists."""
    size = budget.packed_size(budget.manifest()["src/pages/jobs/list/JobsPage.tsx"]["file"])
    assert 0 < size <= JOBS * budget.KB, size


def test_the_complete_console_is_small() -> None:
    sizes = budget.all_sizes()
    assert len(sizes) > 10
    assert sum(sizes.values()) <= EVERYTHING * budget.KB, sorted(sizes.values())[-5:]
