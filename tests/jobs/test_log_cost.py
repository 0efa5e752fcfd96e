"""Reading a part of a log costs the same, however long the log is and wherever the part begins."""

from collections.abc import Callable
from typing import Any

import pytest

from belvedere.db import Database, Tx
from belvedere.jobs.output import log_lines, log_store
from belvedere.jobs.output.log_store import LogPiece
from statements import RecordingTx, cost

FENCE, JOB = 7, "a" * 24
LINES, SHORT, LINE = 2_000, 100, b"a line\n"


def search_step(tx: Any, line: int) -> None:
    """One step of a search that continues at this line."""
    search = log_lines.LogSearch("no such text", 10, line * len(LINE))
    log_lines._begin(tx, FENCE, search, line * len(LINE))
    log_lines._search_step(tx, FENCE, search)


READS: dict[str, Callable[[Any, int], object]] = {
    "chunks": lambda tx, line: log_store.chunks(tx, FENCE, line * len(LINE), 4),
    "lines": lambda tx, line: log_lines._lines(tx, FENCE, line, 3),
    "search": search_step,
    "times": lambda tx, line: log_lines._times(tx, FENCE, line),
}


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As small compared with this log as the real ones are compared with a long log."""
    monkeypatch.setattr(log_store, "MAX_LINE_SCAN", 16 * len(LINE))
    monkeypatch.setattr(log_lines, "MAX_MARK_CHUNKS", 16)
    monkeypatch.setattr(log_lines, "MAX_MARKS", 8)


def fill(logs: Database, lines: int) -> Database:
    log = logs.write_blocking(log_store.find, FENCE)
    start = log.lines_seen if log is not None else 0
    pieces = [LogPiece(FENCE, JOB, n * len(LINE), n, LINE) for n in range(start, lines)]
    logs.write_blocking(log_store.append, pieces)
    if logs.dialect.name == "postgres":
        logs.write_blocking(lambda tx: tx.execute("analyze log_chunks"))
    return logs


def highest_cost(logs: Database, read: str, lines: int) -> int:
    """The cost of reading a part at the beginning, in the middle and at the end."""

    def cost_at(tx: Tx, line: int) -> int:
        recording = RecordingTx(tx)
        READS[read](recording, line)
        return sum(cost(tx, statement) for statement in recording.statements)

    return max(logs.write_blocking(cost_at, line) for line in (1, lines // 2, lines - 10))


@pytest.mark.parametrize("read", READS)
def test_a_part_of_a_long_log_costs_no_more_than_of_a_short_one(logs: Database, read: str) -> None:
    short = highest_cost(fill(logs, SHORT), read, SHORT)
    assert 0 < highest_cost(fill(logs, LINES), read, LINES) < 3 * short


def test_every_line_is_found_by_its_number(logs: Database) -> None:
    fill(logs, LINES)
    for line in range(0, LINES + 3, 7):
        expected = max(0, min(line - 1, LINES - 1)) * len(LINE)
        assert logs.write_blocking(log_store.find_line, FENCE, line) == expected


def test_lines_are_found_across_a_gap(logs: Database) -> None:
    for at, line in ((0, 0), (7, 1), (900_000, 50), (900_007, 51), (2_000_000, 90)):
        logs.write_blocking(log_store.append, [LogPiece(FENCE, JOB, at, line, LINE)])
    lines = [
        logs.write_blocking(log_store.find_line, FENCE, line)
        for line in (0, 1, 2, 50, 51, 52, 90, 91)
    ]
    assert lines == [0, 0, 7, 7, 900_000, 900_007, 900_007, 2_000_000]


def test_marks_of_a_long_line_in_many_chunks_are_returned_in_pages(logs: Database) -> None:
    """All chunks of a page may begin on the same line; then its only mark is that of this line."""
    count = 3 * log_lines.MAX_MARK_CHUNKS
    pieces = [LogPiece(FENCE, JOB, n, 0, b"x") for n in range(count)]
    pieces.append(LogPiece(FENCE, JOB, count, 0, b"\n"))
    pieces.append(LogPiece(FENCE, JOB, count + 1, 1, b"last\n"))
    logs.write_blocking(log_store.append, pieces)
    first = logs.write_blocking(log_lines._times, FENCE, 1)
    assert [mark.line for mark in first.marks] == [1] and first.next == 2
    rest = logs.write_blocking(log_lines._times, FENCE, 2)
    assert [mark.line for mark in rest.marks] == [2] and rest.next is None
