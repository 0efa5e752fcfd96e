"""A table is written by its owner only, and read by the owner and the packages above it."""

import ast
import re
import sqlite3
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from architecture.source import check, exceptions, modules

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(
    r"\b(insert into|insert or \w+ into|delete from|update|from|join)\s+([a-z_]+\b|\{[^{}]*\})",
    re.IGNORECASE,
)
# What distinguishes a statement from an English sentence with a value.
WRITTEN_IN_SQL = re.compile(r"\b(select|insert into|delete from|update \{.*\} set)\b")
READS = ("from", "join")
# Uses that stay, with their reasons.
ALLOWED = {
    # SQLite has no sequences: the counter of fences continues after the newest attempt, and the
    # counter is a matter of the engine (`Dialect.next_fences`).
    ("db/sqlite/transaction.py", "attempts"),
}
# Modules whose interpolated names are not checked, with the reason.
INTERPOLATED = {
    "bench/measure/history_data.py": "copies rows of a benchmark's own database",
    "db/migration_plan.py": "counts the rows of the tables that a pending migration changes",
    "db/postgres/text_index.py": "a member of Dialect; the caller names the table",
    "db/postgres/transaction.py": "a member of Dialect; the caller names the table",
    "db/sqlite/text_index.py": "a member of Dialect; the caller names the table",
    "db/sqlite/transaction.py": "a member of Dialect; the caller names the table",
    "db/transfer/changes.py": "reads its own table, which both files of SQLite have",
    "db/transfer/postgres_side.py": "copies all tables to the other engine",
    "db/transfer/sqlite_side.py": "copies all tables to the other engine",
    "hosts/store.py": "a list in JSON as a table (Dialect.json_values)",
    "jobs/permissions.py": "a list in JSON as a table (Dialect.json_values)",
    "overview/access_report.py": "reads names from tables that `triggers.sources.SOURCES` lists",
    "overview/event_sources.py": "reads names from tables that `triggers.sources.SOURCES` lists",
    "overview/names.py": "reads the tables that `overview.objects.SOURCES` lists",
    "overview/rows/queries.py": "a list in JSON as a table (Dialect.json_values)",
    "overview/search.py": "reads the tables that `overview.objects.SOURCES` lists",
    "overview/trigger_graph.py": "reads names from tables that `triggers.sources.SOURCES` lists",
    "server/encryption/key_rotation.py": "seals the columns in its table again with a new key",
    "server/encryption/sealing.py": "seals the columns that `columns.py` lists",
    "triggers/sources.py": "checks that a source exists, by the table of its kind",
    "webhooks/deliveries/receive.py": "reads a name by `triggers.sources.SOURCES`",
}


def _layers() -> list[list[str]]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return [layer.split(" | ") for layer in rules["contracts"][0]["layers"]]


LEVELS = {name: -number for number, names in enumerate(_layers()) for name in names}


def _owners() -> dict[str, str]:
    owners: dict[str, list[str]] = exceptions("tables")
    return {table: package for package, tables in owners.items() for table in tables}


def _uses() -> Iterator[tuple[str, str, str]]:
    """(path, verb, table) of every statement in the source. For an interpolated name, each table
    whose name is a text of the same module counts."""
    for module in modules():
        for verb, table in _statements(module.tree):
            if not table.startswith("{"):
                yield module.path, verb, table
            elif module.path not in INTERPOLATED:
                for name in _named_tables(module.tree):
                    yield module.path, verb, name


def _statements(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(verb, table) of every statement; the table is "{expression}" if it is interpolated."""
    constants = _constants(tree)
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if id(node) not in inside and (text := _text(node, constants)):
            is_sql = WRITTEN_IN_SQL.search(text) is not None
            for verb, table in STATEMENT.findall(text):
                if is_sql or not table.startswith("{"):
                    yield verb.lower(), table


def _constants(tree: ast.Module) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _text(node: ast.AST, constants: dict[str, str]) -> str:
    """A string as it is written, with the module's own constants inserted."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(
        constants.get(ast.unparse(part.value), "{" + ast.unparse(part.value) + "}")
        if isinstance(part, ast.FormattedValue)
        else _text(part, constants)
        for part in node.values
    )


def _named_tables(tree: ast.Module) -> set[str]:
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {name for name in _owners() if name in texts}


def test_interpolated_names_of_tables_can_be_checked() -> None:
    """The module names its tables as texts, or has a reason in INTERPOLATED."""
    interpolating = {
        module.path: module
        for module in modules()
        if any(table.startswith("{") for _, table in _statements(module.tree))
    }
    hidden = {path for path, module in interpolating.items() if not _named_tables(module.tree)}
    assert hidden - INTERPOLATED.keys() == set(), "name the tables here, or add a reason"
    assert INTERPOLATED.keys() - interpolating.keys() == set(), "no longer needed"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('f"update {table} set a = 1"', [("update", "{table}")]),
        ('f"select {a} from {column.table} x"', [("from", "{column.table}")]),
        ('X = "jobs j"\nf"select 1 from {X} where a"', [("from", "jobs")]),
        ('f"insert into {T[row][0]} ({names})"', [("insert into", "{T[row][0]}")]),
        ('f"select 1 from jobs where {condition}"', [("from", "jobs")]),
        ('"select k from {table} y"', [("from", "{table}")]),
        ('f"it is deleted from {count} hosts"', []),
    ],
)
def test_an_interpolated_name_is_noticed(source: str, expected: list[tuple[str, str]]) -> None:
    assert list(_statements(ast.parse(source))) == expected


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
