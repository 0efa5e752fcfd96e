"""The write-ahead log of SQLite does not stay as large as a long read has made it."""

from contextlib import closing
from pathlib import Path

from belvedere.db import Tx
from belvedere.db.sqlite.connection import MAX_IDLE_LOG, connect
from belvedere.db.sqlite.database import Sqlite


def write_value(tx: Tx) -> None:
    # Another value each time: SQLite does not write pages that stay the same.
    tx.execute("insert or replace into t (id, value) values (1, randomblob(1000000))")


async def test_the_log_of_a_long_read_is_cut_when_the_read_has_ended(tmp_path: Path) -> None:
    file, log = tmp_path / "belvedere.db", tmp_path / "belvedere.db-wal"
    db = Sqlite(file)
    db.write_blocking(lambda tx: tx.execute("create table t (id integer primary key, value text)"))
    with closing(connect(str(file), readonly=True)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from t").fetchall()
        while log.stat().st_size < 2 * MAX_IDLE_LOG:
            db.write_blocking(write_value)
    # The log starts over with the first of these writes, and the next one cuts its file.
    for _ in range(3):
        db.write_blocking(write_value)
    assert log.stat().st_size <= MAX_IDLE_LOG
    await db.close()
