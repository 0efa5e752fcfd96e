"""The program with a short limit for waits on PostgreSQL: a test then compares the documented times
with a tenth of them, and does not depend on how busy the machine is."""

import sys

from belvedere.cli.main import main
from belvedere.db.postgres import database

ANSWER_S = 1.0


class ImpatientPostgres(database.Postgres):
    def __init__(self, url: str) -> None:
        super().__init__(url, answer_s=ANSWER_S)


if __name__ == "__main__":
    database.Postgres = ImpatientPostgres  # type: ignore[misc, assignment]
    sys.exit(main())
