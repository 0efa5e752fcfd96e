"""Which errors are faults of the database, and which belong to the operation."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import psycopg
import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Database, Tx, is_database_fault

FAULTS: dict[str, list[Exception]] = {
    "sqlite": [apsw.BusyError("locked"), apsw.IOError("disk I/O"), apsw.CantOpenError("no file")],
    "postgres": [
        psycopg.OperationalError("lost"),
        psycopg.errors.DeadlockDetected("deadlock"),
        psycopg.errors.SerializationFailure("conflict"),
    ],
}


async def _fault_of_write(db: Database, statement: str | Exception) -> BaseException:
    def fail(tx: Tx) -> None:
        if isinstance(statement, Exception):
            raise statement
        tx.execute(statement)
        tx.value("select 1")

    with pytest.raises(Exception) as failure:
        await db.write(fail)
    return failure.value


async def test_faults_of_the_database(db: Database, engine: str) -> None:
    for fault in FAULTS[engine]:
        assert is_database_fault(await _fault_of_write(db, fault)), fault
    assert await db.read(lambda tx: tx.value("select 1")) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "insert into meta (name, value) values ('n1', null)",
        "insert into meta (name, value) values ('n1', '1'), ('n1', '2')",
        "select nothing from nowhere",
        Conflict("the name is in use"),
        ValueError("cannot be processed"),
    ],
)
async def test_errors_of_the_operation(db: Database, statement: str | Exception) -> None:
    assert not is_database_fault(await _fault_of_write(db, statement))


def test_a_value_that_cannot_be_decrypted_is_no_fault_of_the_database(keys: Keyring) -> None:
    with pytest.raises(Unavailable) as refusal:
        keys.unseal(Keyring(bytes(32)).seal("text", "context"), "context")
    assert not is_database_fault(refusal.value)


@pytest.fixture
def locked_db(db: Database, database_url: str) -> Iterator[Database]:
    """A database that another program has locked."""
    other = apsw.Connection(database_url)
    db._writer.set_busy_timeout(0)  # type: ignore[attr-defined]
    other.execute("begin immediate")
    yield db
    other.execute("rollback")
    other.close()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)  # SQLite: a file without permission
async def test_a_read_only_database(db: Database) -> None:
    """Else a consumer would set events aside, and schedules would skip runs."""

    def write(tx: Tx) -> None:
        tx.execute("set transaction read only")
        tx.execute("insert into meta (name, value) values ('n1', '1')")

    with pytest.raises(Unavailable, match="read-only") as refusal:
        await db.write(write)
    assert is_database_fault(refusal.value)
    assert await db.write(lambda tx: tx.value("select 1")) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_locked_database(locked_db: Database) -> None:
    assert is_database_fault(await _fault_of_write(locked_db, "select 1"))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_file_that_cannot_be_opened(db: Database, tmp_path: Path) -> None:
    db.path = str(tmp_path / "missing.db")  # type: ignore[attr-defined]
    with pytest.raises(Unavailable) as refusal:
        await db.read(lambda tx: tx.value("select 1"))
    assert is_database_fault(refusal.value)
