"""Names say what a value is. The numbers in exceptions.toml may only shrink."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from architecture.source import SOURCE, check, walk

TESTS = Path(__file__).parent.parent

# Words that say how a value came about, or nothing at all.
UNINFORMATIVE = frozenset(
    ("found", "given", "told", "kept", "shown", "made", "said", "seen", "asked", "wanted", "held")
    + ("taken", "known", "one", "ones", "whole", "mine", "heard", "sought", "got", "left", "sent")
    + ("thing", "things", "it", "them", "what", "stuff", "rung", "house", "ask")
)
# A function is named by a verb; these are participles, or verbs of conversation.
PARTICIPLES = frozenset(
    ("shown", "told", "given", "kept", "made", "said", "wanted", "asked", "taken", "tell", "say")
)
# Those of functions only: as the key of a text they are labels, such as "Done".
OF_FUNCTIONS = PARTICIPLES | frozenset(
    ("seen", "held", "left", "found", "known", "gone", "sent", "heard", "chosen", "done")
)
# Columns of tables, whose names do not change.
COLUMNS = frozenset(("given", "shown"))
# Irregular participles, for the helpers of the tests; the regular ones end with "ed".
IRREGULAR = frozenset(
    ("begun", "broken", "drawn", "written", "spoken", "lost", "met", "ran", "came", "gone")
    + ("caught", "bound", "undone", "hidden", "began", "done")
)
# Names of the field, or of JSON Schema, that look like participles.
VERBS = frozenset(("feed", "need", "seed", "required"))
# Metaphors that names of tests had: a signal, a batch, an operation, a cycle, a result.
METAPHORS = frozenset(
    ("doorbell", "ring", "rings", "glance", "verb", "crowd", "trip", "truth", "cast", "stranger")
    + ("strangers", "knock", "lookout")
)
# `from … import x as name`, `import x as name`, or a line of such an import in parentheses.
IMPORTED_AS = re.compile(r"(?m)^ *(?:from \S+ import .+|import \S+|\w+) as (\w+),?$")
# The name of a test is read without its file, so it does not begin with one of these.
PRONOUNS = frozenset(
    ("it", "its", "they", "those", "what", "who", "whom", "whoever", "nobody", "others", "of")
)


def test_names_of_tests_have_no_metaphors() -> None:
    assert [name for name in _names_of_tests() if METAPHORS & set(name.split("_"))] == []


def test_names_of_tests_begin_with_their_subject() -> None:
    assert [name for name in _names_of_tests() if name.split("_")[1] in PRONOUNS] == []


def _names_of_tests() -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for _, node in _nodes_of_tests() if isinstance(node, kinds)}
    return {name for name in names if name.startswith("test_")}


def test_bound_names_are_nouns() -> None:
    nodes = ((m, node) for m, node in walk() if _is_uninformative(node) or _is_attribute(node))
    check("uninformative names", Counter(m.package for m, _ in nodes))


def test_bound_names_of_the_tests_are_nouns() -> None:
    names = ((path, node) for path, node in _nodes_of_tests() if _is_uninformative(node))
    check("uninformative names in tests", Counter(path.partition("/")[0] for path, _ in names))


def _is_uninformative(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id in UNINFORMATIVE
    return isinstance(node, ast.arg) and node.arg in UNINFORMATIVE


def _is_attribute(node: ast.AST) -> bool:
    """Whether it sets an attribute with such a name."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr.strip("_") in UNINFORMATIVE - COLUMNS
    return False


def test_imports_are_not_renamed_to_uninformative_words() -> None:
    paths = [*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")]
    names = [(path, name) for path in paths for name in IMPORTED_AS.findall(path.read_text())]
    words = UNINFORMATIVE | METAPHORS
    assert len(names) > 100
    assert [(path, name) for path, name in names if words & set(name.split("_"))] == []


def test_functions_are_named_by_verbs() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [(m, node) for m, node in walk() if isinstance(node, kinds)]
    names = ((m.package, node.name.strip("_")) for m, node in functions)
    check("participles", Counter(package for package, name in names if name in OF_FUNCTIONS))


def test_a_class_name_is_used_once() -> None:
    names = Counter(node.name for _, node in walk() if isinstance(node, ast.ClassDef))
    twice = {name: n for name, n in names.items() if n > 1 and not name.startswith("_")}
    check("class names", twice)


def test_helpers_and_fixtures_of_the_tests_have_informative_names() -> None:
    names = [f"{path}:{name}" for path, name in _helpers() if _is_participle(name)]
    assert names == []


def _helpers() -> Iterator[tuple[str, str]]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for path, node in _nodes_of_tests():
        if isinstance(node, kinds) and not node.name.startswith("test_"):
            yield path, node.name.strip("_").lower()


def _nodes_of_tests() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        yield from ((name, node) for node in ast.walk(ast.parse(path.read_text())))


def _is_participle(name: str) -> bool:
    if name in VERBS:
        return False
    if name in UNINFORMATIVE | PARTICIPLES | IRREGULAR:
        return True
    return name.endswith("ed") and "_" not in name
