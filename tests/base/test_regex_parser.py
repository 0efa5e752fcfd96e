"""The private parser of the standard library still is what base/text/regex_syntax.py expects.

A failure here means: this Python changed `re._parser` or `re._constants`. Adapt regex_syntax.py,
rest/patterns/alphabet.py and rest/patterns/re2_syntax.py to it before this version is supported.
"""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import belvedere

ADVICE = (
    f"Python {sys.version.split()[0]} changed a private name of `re` that our patterns need; adapt"
    " base/text/regex_syntax.py and rest/patterns"
)
FILES = (
    *("base/text/regex_syntax.py", "base/text/regex.py"),
    *("rest/patterns/alphabet.py", "rest/patterns/re2_syntax.py"),
)
# A pattern, and the nodes that the parser makes of it.
TREES = [
    ("a", "[(LITERAL, 97)]"),
    ("[^a]", "[(NOT_LITERAL, 97)]"),
    (".", "[(ANY, None)]"),
    ("[a-c]", "[(IN, [(RANGE, (97, 99))])]"),
    (r"\d", "[(IN, [(CATEGORY, CATEGORY_DIGIT)])]"),
    ("^$", "[(AT, AT_BEGINNING), (AT, AT_END)]"),
    ("a{2,3}", "[(MAX_REPEAT, (2, 3, [(LITERAL, 97)]))]"),
    ("a*?", "[(MIN_REPEAT, (0, MAXREPEAT, [(LITERAL, 97)]))]"),
    ("(a)", "[(SUBPATTERN, (1, 0, 0, [(LITERAL, 97)]))]"),
    ("a|bc", "[(BRANCH, (None, [[(LITERAL, 97)], [(LITERAL, 98), (LITERAL, 99)]]))]"),
    ("(?=a)", "[(ASSERT, (1, [(LITERAL, 97)]))]"),
    ("(?!a)", "[(ASSERT_NOT, (1, [(LITERAL, 97)]))]"),
    (r"(a)\1", "[(SUBPATTERN, (1, 0, 0, [(LITERAL, 97)])), (GROUPREF, 1)]"),
    ("(?>a)", "[(ATOMIC_GROUP, [(LITERAL, 97)])]"),
    ("a++", "[(POSSESSIVE_REPEAT, (1, MAXREPEAT, [(LITERAL, 97)]))]"),
]


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.fail(f"{ADVICE}: there is no {name}")


def test_every_private_name_exists() -> None:
    constants, parser = _module("re._constants"), _module("re._parser")
    source = "\n".join((Path(belvedere.__file__).parent / name).read_text() for name in FILES)
    used = set(re.findall(r"\bsre\.([A-Z_]+)\b", source))
    assert used
    missing = sorted(name for name in used if not hasattr(constants, name))
    missing += [name for name in ("parse", "SubPattern") if not hasattr(parser, name)]
    assert not missing, f"{ADVICE}: {', '.join(missing)}"


@pytest.mark.parametrize("text, nodes", TREES)
def test_the_parser_makes_the_same_tree(text: str, nodes: str) -> None:
    tree = _module("re._parser").parse(text)
    assert str(tree) == nodes, f"{ADVICE}: {text} is parsed as {tree}"
    assert isinstance(tree.state.flags, int), f"{ADVICE}: state.flags"
