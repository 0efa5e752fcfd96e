"""No modules import each other in a cycle, at any level, also below TYPE_CHECKING and inside
functions. The contracts of pyproject.toml order packages and most of their parts; this holds for
the parts without a contract of their own."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from architecture.source import modules


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    graph = _graph({module.path: module.tree for module in modules()})
    assert len(graph["jobs.lifecycle.create"]) > 10
    assert _cycle(graph) == []


def test_a_cycle_through_a_function_is_found() -> None:
    sources = {
        "jobs/__init__.py": "",
        "jobs/a.py": "from belvedere.jobs import b",
        "jobs/b.py": "def f():\n    from belvedere.jobs.a import g",
        "jobs/c.py": "import belvedere.jobs.a",
    }
    graph = _graph({path: ast.parse(text) for path, text in sources.items()})
    assert set(_cycle(graph)) == {"jobs.a", "jobs.b"}


def _graph(trees: Mapping[str, ast.AST]) -> dict[str, set[str]]:
    """The modules that each module imports. An import of a package is one of its `__init__`."""
    names = {_name(path): tree for path, tree in trees.items()}
    return {name: set(_imports(tree, names)) - {name} for name, tree in names.items()}


def _name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(tree: ast.AST, names: Mapping[str, ast.AST]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported = [_member(node.module or "", alias.name, names) for alias in node.names]
        else:
            continue
        for name in imported:
            if name.removeprefix("belvedere.") in names:
                yield name.removeprefix("belvedere.")


def _member(package: str, name: str, names: Mapping[str, ast.AST]) -> str:
    module = f"{package}.{name}"
    return module if module.removeprefix("belvedere.") in names else package


def _cycle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as fault:
        return list(fault.args[1])
    return []
