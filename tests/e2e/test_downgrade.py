"""An older version on the data of a newer one."""

from pathlib import Path

import engines
from belvedere.db.migrate import migrate
from e2e.programs import Server


def test_a_server_does_not_start_on_a_database_of_a_newer_version(
    database: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    db = engines.open_fast(database or str(data / "belvedere.db"))
    migrate(db)
    future = "insert into migrations values ('migrations/9999_future', 0)"
    db.write_blocking(lambda tx: tx.execute(future))
    engines.close(db)
    server = Server(data, database)
    try:
        assert not server.start(), "it listens"
    finally:
        server.kill()
    assert server.process.returncode != 0
    message = server.read_log()
    assert "9999_future" in message and "Start that version" in message, message
    assert "Traceback" not in message
