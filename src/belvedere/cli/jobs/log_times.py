"""`belvedere job log --timestamps`: each line after the moment it was written."""

import sys
from collections.abc import Iterator
from typing import Any

from belvedere.client.http_client import Client

# As long as a moment, for lines of which nobody knows.
UNKNOWN = "-" * 24


def print_all(client: Client, job_id: str) -> None:
    marks = list(_marks(client, job_id))
    at, passed = UNKNOWN, 0
    for number, text in _lines(client, job_id):
        while passed < len(marks) and marks[passed]["line"] <= number:
            at, passed = marks[passed]["at"], passed + 1
        sys.stdout.write(f"{at} {text}\n")
    sys.stdout.flush()


def _marks(client: Client, job_id: str) -> Iterator[dict[str, Any]]:
    first: int | None = 1
    while first is not None:
        page = client.get(f"/job/{job_id}/log/times", {"from": first})
        yield from page["marks"]
        first = page["next"]


def _lines(client: Client, job_id: str) -> Iterator[tuple[int, str]]:
    first = 1
    while True:
        page = client.get(f"/job/{job_id}/log/lines", {"from": first, "count": 5_000})
        yield from enumerate(page["lines"], page["first"])
        if not page["lines"]:
            return
        first = page["first"] + len(page["lines"])
