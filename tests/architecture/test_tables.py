"""A table is written by its owner only, and read by the owner and the packages above it."""

import ast
import re
import sqlite3
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from architecture.source import check, exceptions, walk

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(
    r"\b(insert into|insert or \w+ into|delete from|update|from|join)\s+([a-z_]+)\b", re.IGNORECASE
)
READS = ("from", "join")
# Uses that stay, with their reasons.
ALLOWED = {
    # SQLite has no sequences: the counter of fences continues after the newest attempt, and the
    # counter is a matter of the engine (`Dialect.next_fences`).
    ("db/sqlite/transaction.py", "attempts"),
}


def _layers() -> list[list[str]]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return [layer.split(" | ") for layer in rules["contracts"][0]["layers"]]


LEVELS = {name: -number for number, names in enumerate(_layers()) for name in names}


def _owners() -> dict[str, str]:
    owners: dict[str, list[str]] = exceptions("tables")
    return {table: package for package, tables in owners.items() for table in tables}


def _uses() -> Iterator[tuple[str, str, str]]:
    """(path, verb, table) of every statement in the source."""
    for module, node in walk():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for verb, table in STATEMENT.findall(node.value):
                yield module.path, verb.lower(), table


def test_every_table_has_an_owner(sqlite_template: Path, sqlite_logs_template: Path) -> None:
    tables = _tables(sqlite_template) | _tables(sqlite_logs_template)
    assert tables - set(_owners()) == set(), "name an owner in exceptions.toml"
    assert set(_owners()) - tables == set(), "these tables do not exist"


def _tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    return {name for (name,) in rows if not name.startswith("sqlite_")}


def test_tables_belong_to_their_package() -> None:
    owners = _owners()
    violations: Counter[str] = Counter()
    for path, verb, table in _uses():
        package = path.partition("/")[0].removesuffix(".py")
        owner = owners.get(table)
        if owner is None or package == owner or (path, table) in ALLOWED:
            continue
        if verb not in READS or LEVELS[package] <= LEVELS[owner]:
            violations[f"{path} {'reads' if verb in READS else 'writes'} {table}"] += 1
    check("table uses", violations)
