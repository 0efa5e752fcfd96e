"""Types at package boundaries, and the engine as a matter of `db` alone."""

import ast
from collections import Counter

from architecture.source import check, walk

ENGINES = ("sqlite", "postgres", "postgresql")
# They print or choose the engine; they write no SQL for it.
MAY_NAME_ENGINES = ("db/", "bench/", "server/doctor/", "settings.py")


# What is left has its reason beside it: fields of bodies and records that contain any JSON (msgspec
# cannot describe `object` in the OpenAPI document), hash objects and objects of other libraries
# whose types have no public name.
def test_any_is_rare() -> None:
    check("any", Counter(m.package for m, node in walk() for _ in range(_anys(node))))


def _anys(node: ast.AST) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return sum(_is_any(arg.annotation) for arg in node.args.args)
    return int(isinstance(node, ast.AnnAssign) and _is_any(node.annotation))


def _is_any(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def test_only_db_asks_which_engine_runs() -> None:
    places = Counter(
        m.path for m, node in walk() if _switch(node) and not m.path.startswith(MAY_NAME_ENGINES)
    )
    check("engine switches", places)


def _switch(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in ENGINES
