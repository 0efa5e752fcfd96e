"""The source as the tests of this folder read it: modules, their trees, and lists of exceptions."""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import belvedere

SOURCE = Path(belvedere.__file__).parent
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")


class Module(NamedTuple):
    # Below src/belvedere: "jobs/store.py".
    path: str
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        return self.path.partition("/")[0].removesuffix(".py")


@cache
def modules() -> tuple[Module, ...]:
    return tuple(_read(path) for path in sorted(SOURCE.rglob("*.py")))


def _read(path: Path) -> Module:
    text = path.read_text()
    return Module(path.relative_to(SOURCE).as_posix(), ast.parse(text), text.count("\n"))


def walk() -> Iterator[tuple[Module, ast.AST]]:
    for module in modules():
        for node in ast.walk(module.tree):
            yield module, node


def exceptions(name: str) -> Any:
    return tomllib.loads(EXCEPTIONS.read_text())[name]


def check(name: str, violations: Mapping[str, int]) -> None:
    """Compare with the exceptions: no new one, and none that is no longer needed."""
    allowed: dict[str, int] = exceptions(name)
    more = {key: n for key, n in violations.items() if n > allowed.get(key, 0)}
    assert not more, f"{name}: more than the exceptions allow: {more}"
    counts = {key: violations.get(key, 0) for key in allowed}
    fewer = {key: n for key, n in counts.items() if n < allowed[key]}
    assert not fewer, f"{name}: lower these numbers in exceptions.toml: {fewer}"
