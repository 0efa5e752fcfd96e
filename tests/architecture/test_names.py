"""Names say what a value is. The numbers in exceptions.toml may only shrink."""

import ast
from collections import Counter

from architecture.source import check, walk

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


def test_bound_names_are_nouns() -> None:
    check("uninformative names", Counter(m.package for m, node in walk() if _bound(node)))


def _bound(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id in UNINFORMATIVE
    return isinstance(node, ast.arg) and node.arg in UNINFORMATIVE


def test_functions_are_named_by_verbs() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [(m, node) for m, node in walk() if isinstance(node, kinds)]
    check("participles", Counter(m.package for m, node in functions if node.name in PARTICIPLES))


def test_a_class_name_is_used_once() -> None:
    names = Counter(node.name for _, node in walk() if isinstance(node, ast.ClassDef))
    twice = {name: n for name, n in names.items() if n > 1 and not name.startswith("_")}
    check("class names", twice)
