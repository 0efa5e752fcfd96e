"""A connection to PostgreSQL that must not be used is closed, whatever the reason."""

import psycopg
import pytest

from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Database, Tx

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.mark.parametrize(
    ("fault", "refusal"),
    [
        # The connection works after these.
        (psycopg.errors.QueryCanceled("statement timeout"), Unavailable),
        (psycopg.errors.LockNotAvailable("lock timeout"), Unavailable),
        (psycopg.errors.UndefinedTable("no such table"), psycopg.errors.UndefinedTable),
        (Conflict("no"), Conflict),
    ],
)
def test_a_connection_whose_check_fails_is_closed(
    db: Database, fault: Exception, refusal: type[Exception]
) -> None:
    def refuse(tx: Tx) -> None:
        raise fault

    db.discard_idle()  # type: ignore[attr-defined]
    db.check_usable = refuse  # type: ignore[attr-defined]
    with pytest.raises(refusal):
        db.write_blocking(lambda tx: None)
    assert [connection for connection in db._opened if not connection.closed] == []  # type: ignore[attr-defined]
