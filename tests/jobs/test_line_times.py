"""The times at which lines of a log were written."""

import asyncio
from types import SimpleNamespace
from typing import Any

from belvedere.db import Database
from belvedere.jobs.output import log_lines, log_store
from belvedere.jobs.output.log_lines import LineTimes
from belvedere.jobs.output.log_store import LogPiece
from manual_clock import ManualClock

FENCE, JOB = 7, "a" * 24


def times(logs: Database, first: int = 1) -> LineTimes:
    simple_namespace: Any = SimpleNamespace(small=None, fence=FENCE)
    services: Any = SimpleNamespace(logs=logs)
    return asyncio.run(log_lines.times(services, simple_namespace, first))


def add(logs: Database, at: int, line: int, data: bytes) -> None:
    logs.write_blocking(log_store.append, [LogPiece(FENCE, JOB, at, line, data)])


def test_each_chunk_marks_the_time_of_its_first_line(logs: Database) -> None:
    logs.clock = clock = ManualClock()
    add(logs, 0, 0, b"one\ntw")
    clock.move(5)
    add(logs, 6, 1, b"o\nthree\n")
    clock.move(5)
    add(logs, 14, 3, b"fo")
    add(logs, 16, 3, b"ur")
    marks = times(logs).marks
    assert [mark.line for mark in marks] == [1, 2, 4] and times(logs, 3).marks == marks[2:]
    assert len({first_mark.at for first_mark in marks}) == 3


def test_removed_lines_have_no_time(logs: Database) -> None:
    add(logs, 0, 0, b"one\n")
    add(logs, 100, 20, b"last\n")
    assert [mark.line for mark in times(logs).marks] == [1, 21]


def test_older_pieces_do_not_know(logs: Database) -> None:
    add(logs, 0, 0, b"one\n")
    logs.write_blocking(lambda tx: tx.execute("update log_chunks set written_at = null"))
    assert times(logs) == LineTimes([], None)


def test_many_marks_are_returned_in_pages(logs: Database, monkeypatch: Any) -> None:
    monkeypatch.setattr(log_lines, "MAX_MARKS", 2)
    for n in range(3):
        add(logs, n, n, b"\n")
    page = times(logs)
    assert [mark.line for mark in page.marks] == [1, 2] and page.next == 3
    assert [first_mark.line for first_mark in times(logs, 3).marks] == [3] and times(
        logs, 3
    ).next is None
