"""What the pending migrations of a database do, and which of them may take long."""

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from belvedere.db.interface import Tx
from belvedere.db.migrate import list_applied, migrations, statements, table_exists

# A migration that reads or writes the rows of a table with more of them may take long.
LARGE = 100_000
# Statements whose time grows with the rows of a table.
_ROW_STATEMENTS = (
    re.compile(r"^create (?:unique )?index (?:if not exists )?\w+\s+on\s+(\w+)"),
    re.compile(r"^update\s+(\w+)\s+set\b"),
    re.compile(r"^delete\s+from\s+(\w+)"),
    re.compile(r"^insert\s+into\b.*?\bfrom\s+(\w+)", re.DOTALL),
    re.compile(r"^create\s+table\b.*?\bas\s+select\b.*?\bfrom\s+(\w+)", re.DOTALL),
    re.compile(r"^alter\s+table\s+(\w+)\s+(?:alter|drop)\b"),
)
# Files that SQLite keeps next to a database and that belong to it.
_COMPANIONS = ("", "-wal")


class PendingMigration(msgspec.Struct):
    name: str
    about: str
    may_be_slow: bool
    # The large tables whose rows it reads or writes.
    large_tables: list[str]


def list_pending(tx: Tx, folder: str) -> list[PendingMigration]:
    """The migrations of this version that the database lacks, in their order."""
    names = list_applied(tx)
    return [
        _describe(tx, f"{folder}/{name}", text)
        for name, text in migrations(tx.dialect.name, folder)
        if f"{folder}/{name}" not in names
    ]


def list_unknown(tx: Tx, folder: str) -> list[str]:
    """The migrations that a newer version has applied."""
    own_names = {f"{folder}/{name}" for name, _ in migrations(tx.dialect.name, folder)}
    names = {name for name in list_applied(tx) if name.startswith(f"{folder}/")}
    return sorted(names - own_names)


def _describe(tx: Tx, name: str, text: str) -> PendingMigration:
    large_tables = [table for table in _tables_read(text) if _is_large(tx, table)]
    return PendingMigration(name, _first_sentence(name, text), bool(large_tables), large_tables)


def _first_sentence(name: str, text: str) -> str:
    """The comment at the beginning of the file; else what the name says."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    sentence = re.match(r".*?[.](?=\s|$)", " ".join(lines))
    if sentence is not None:
        return sentence[0]
    words = name.rpartition("/")[2].partition(".")[0].split("_")[1:]
    return f"Changes {' '.join(words)}."


def _tables_read(text: str) -> list[str]:
    tables: dict[str, None] = {}
    for statement in statements(text):
        bare = "\n".join(
            line for line in statement.splitlines() if not line.lstrip().startswith("--")
        )
        for pattern in _ROW_STATEMENTS:
            match = pattern.match(bare.strip().lower())
            if match is not None:
                tables[match[1]] = None
    return list(tables)


def _is_large(tx: Tx, table: str) -> bool:
    """Counts no further than necessary. A table that the migrations create is empty."""
    if not table_exists(tx, table):
        return False
    query = f"select count(*) from (select 1 from {table} limit ?) as sample"
    return int(tx.value(query, LARGE + 1)) > LARGE


def size_of(files: Iterable[Path]) -> int:
    """The bytes that copies of these SQLite databases need at most."""
    paths = [path.with_name(path.name + suffix) for path in files for suffix in _COMPANIONS]
    return sum(path.stat().st_size for path in paths if path.exists())
