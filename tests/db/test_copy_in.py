"""Rows that a restore sends to PostgreSQL."""

import psycopg
import pytest

from belvedere.db.backup import postgres_restore

# More than a socket accepts at once.
BLOCK = b"a text\n" * 600_000
COUNT = 4


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_block_is_sent_before_the_next_one_is_read(database_url: str) -> None:
    """Otherwise a large table would be in memory."""
    with psycopg.connect(database_url) as connection, connection.cursor() as cursor:
        cursor.execute("create temp table texts (value text)")
        with cursor.copy("copy texts from stdin") as copy:
            for _ in range(COUNT):
                postgres_restore.send(copy, BLOCK)
                assert connection.pgconn.flush() == 0
        assert cursor.rowcount == COUNT * 600_000


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_an_error_during_a_copy_is_raised(database_url: str) -> None:
    with psycopg.connect(database_url) as connection, connection.cursor() as cursor:
        cursor.execute("create temp table numbers (value bigint)")
        with (
            pytest.raises(psycopg.errors.InvalidTextRepresentation),
            cursor.copy("copy numbers from stdin") as copy,
        ):
            for _ in range(COUNT):
                postgres_restore.send(copy, BLOCK)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_connection_that_ends_during_a_copy_is_reported(database_url: str) -> None:
    with (
        psycopg.connect(database_url, autocommit=True) as other,
        pytest.raises(psycopg.OperationalError),
        psycopg.connect(database_url) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("create temp table texts (value text)")
        with cursor.copy("copy texts from stdin") as copy:
            postgres_restore.send(copy, BLOCK)
            other.execute("select pg_terminate_backend(%s, 10000)", (connection.info.backend_pid,))
            for _ in range(COUNT):
                postgres_restore.send(copy, BLOCK)
