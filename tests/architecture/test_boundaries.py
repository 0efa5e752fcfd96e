"""Types at package boundaries, and the engine as a matter of `db` alone."""

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

from architecture.source import SOURCE, check, modules, walk

ENGINES = ("sqlite", "postgres", "postgresql")
# These modules print or choose the engine; they write no SQL for it.
MAY_NAME_ENGINES = ("db/", "bench/", "server/doctor/", "settings.py")


def test_any_is_rare() -> None:
    check("any", Counter(m.package for m, node in walk() for _ in range(_anys(node))))


def _anys(node: ast.AST) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return sum(_is_any(arg.annotation) for arg in node.args.args)
    return int(isinstance(node, ast.AnnAssign) and _is_any(node.annotation))


def _is_any(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def test_any_has_its_reason_beside_it() -> None:
    """In a comment on the line, or above the function or the block of fields. Usual reasons: JSON
    of any shape (msgspec cannot describe `object` in the OpenAPI document), and objects of other
    libraries whose types have no public name."""
    places = [
        f"{module.path}:{line}"
        for module in modules()
        for line in _anys_without_reason((SOURCE / module.path).read_text(), module.tree)
    ]
    assert places == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(x: Any) -> None: ...", [1]),
        ("def f(*, x: Any) -> None: ...", [1]),
        ("def f(**x: Any) -> None: ...", [1]),
        ("def f() -> Any: ...", [1]),
        ("class C:\n    x: Any\n    y: Any", [2, 3]),
        ("class C:\n    # JSON.\n    x: Any\n    y: Any", []),
        ("class C:\n    # JSON.\n    x: Any\n\n    y: Any", [5]),
        ("# JSON.\n@decorated\ndef f(x: Any) -> None: ...", []),
        ("def f() -> Any:  # JSON\n    return 1", []),
        ("def f(x: object) -> list[Any]: ...", []),
    ],
)
def test_an_any_without_a_reason_is_noticed(source: str, lines: list[int]) -> None:
    assert _anys_without_reason(source, ast.parse(source)) == lines


def _anys_without_reason(source: str, tree: ast.AST) -> list[int]:
    lines = source.splitlines()
    return sorted(
        {
            annotation.lineno
            for node in ast.walk(tree)
            for annotation in _annotations(node)
            if _is_any(annotation) and not _has_comment(lines, node, annotation.lineno)
        }
    )


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        args = node.args
        groups = (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg)
        yield from (arg.annotation for arg in groups if arg is not None and arg.annotation)
        if node.returns is not None:
            yield node.returns


def _has_comment(lines: list[str], node: ast.AST, line: int) -> bool:
    if "  # " in lines[line - 1]:
        return True
    first = node.lineno if isinstance(node, ast.stmt) else line
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        first = min([first, *(decorator.lineno for decorator in node.decorator_list)])
    else:
        # One comment is enough for the fields that follow it without a blank line.
        while first > 1 and ": Any" in lines[first - 2]:
            first -= 1
    return first > 1 and lines[first - 2].lstrip().startswith("#")


def test_only_db_asks_which_engine_runs() -> None:
    places = Counter(
        m.path for m, node in walk() if _switch(node) and not m.path.startswith(MAY_NAME_ENGINES)
    )
    check("engine switches", places)


def _switch(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in ENGINES


def test_outside_db_only_few_places_depend_on_the_engine() -> None:
    nodes = ((m, node) for m, node in walk() if not m.path.startswith("db/"))
    check("engine reads", Counter(m.path for m, node in nodes if _reads_engine(node)))


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("manifest.engine", 1),
        ("source.engine == target.engine", 2),
        ("db.dialect.name == POSTGRES", 1),
        ("'post' in tx.dialect.name", 1),
        ("name in ('', tx.dialect.name)", 1),
        ("TEXTS[db.dialect.name]", 1),
        ("TEXTS.get(db.dialect.name)", 1),
        # It is sent or printed unchanged.
        ("Readiness('ok', db.dialect.name)", 0),
        ("db.dialect.is_shared", 0),
    ],
)
def test_a_read_of_the_engine_is_counted(source: str, count: int) -> None:
    assert sum(_reads_engine(node) for node in ast.walk(ast.parse(source))) == count


def _reads_engine(node: ast.AST) -> bool:
    """Reads an attribute `engine`, or chooses by the name of the dialect."""
    if isinstance(node, ast.Attribute):
        return node.attr == "engine"
    if isinstance(node, ast.Compare):
        return any(_is_dialect_name(part) for part in ast.walk(node))
    if isinstance(node, ast.Subscript):
        return _is_dialect_name(node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "get" and any(_is_dialect_name(arg) for arg in node.args)
    return False


def _is_dialect_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node).endswith("dialect.name")
