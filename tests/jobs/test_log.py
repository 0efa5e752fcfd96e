"""Output of scripts by byte offset; the middle of a long output is removed."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belvedere.base.errors import Unavailable
from belvedere.db import Database
from belvedere.jobs.output import artifacts, log_store
from belvedere.jobs.output.log_store import Log, LogPiece

FENCE, JOB = 7, "a" * 24


def add(logs: Database, at: int, data: bytes, line: int = 0, fence: int = FENCE) -> int:
    [offset] = logs.write_blocking(log_store.append, [LogPiece(fence, JOB, at, line, data)])
    assert isinstance(offset, int)
    return offset


def log(logs: Database) -> Log:
    actual_log = logs.write_blocking(log_store.find, FENCE)
    assert actual_log is not None
    return actual_log


def text(logs: Database, start: int = 0) -> bytes:
    chunks = logs.write_blocking(log_store.chunks, FENCE, start, 10_000)
    return b"".join(data for _, _, data in log_store.pieces(chunks, start))


def test_chunks_are_appended_to_the_log(logs: Database) -> None:
    assert add(logs, 0, b"one\ntwo\n") == 8
    assert add(logs, 8, b"three", line=2) == 13
    assert text(logs) == b"one\ntwo\nthree"
    actual_log = log(logs)
    assert (actual_log.bytes_seen, actual_log.bytes_kept, actual_log.lines_seen) == (13, 13, 2)
    assert not actual_log.is_complete
    logs.write_blocking(log_store.close, log_store.LogEnd(FENCE, JOB, 13, 3, "ab"))
    actual_log = log(logs)
    assert (actual_log.is_complete, actual_log.lines_total, actual_log.sha256) == (True, 3, "ab")


def test_stored_bytes_are_skipped(logs: Database) -> None:
    add(logs, 0, b"abc\ndef\n")
    assert add(logs, 0, b"abc\ndef\n") == 8
    assert add(logs, 4, b"def\nghi\n", line=1) == 12
    assert add(logs, 2, b"c") == 12
    assert text(logs) == b"abc\ndef\nghi\n"
    assert log(logs).lines_seen == 3


def test_pieces_of_one_batch_are_appended_in_order(logs: Database) -> None:
    pieces = [
        LogPiece(FENCE, JOB, 0, 0, b"a\n"),
        LogPiece(8, JOB, 0, 0, b"x"),
        LogPiece(FENCE, JOB, 2, 1, b"b\n"),
    ]
    assert logs.write_blocking(log_store.append, pieces) == [4, 1, 4]
    assert text(logs) == b"a\nb\n"


def test_a_gap_is_marked_and_counted(logs: Database) -> None:
    add(logs, 0, b"start\n")
    assert add(logs, 1_000, b"end\n", line=40) == 1_004
    assert text(logs) == b"start\n" + log_store.gap_text(6, 1_000) + b"end\n"
    actual_log = log(logs)
    assert (actual_log.bytes_kept, actual_log.lines_seen) == (10, 41)
    logs.write_blocking(log_store.close, log_store.LogEnd(FENCE, JOB, 1_004, 41, ""))
    assert not log(logs).is_complete


def test_reading_can_begin_anywhere(logs: Database) -> None:
    add(logs, 0, b"0123456789")
    add(logs, 10, b"abcdef")
    for start in range(17):
        assert text(logs, start) == b"0123456789abcdef"[start:]


def test_each_chunk_has_its_offset_and_line(logs: Database) -> None:
    add(logs, 0, b"a\nb\n")
    add(logs, 4, b"c\n", line=2)
    chunks = logs.write_blocking(log_store.chunks, FENCE, 2, 100)
    assert list(log_store.pieces(chunks, 2)) == [(4, 1, b"b\n"), (6, 2, b"c\n")]


def test_the_tail_is_the_end_of_the_stored_log(logs: Database) -> None:
    add(logs, 0, b"0123456789")
    add(logs, 10, b"abcdef")
    assert logs.write_blocking(log_store.tail, FENCE, 8) == b"89abcdef"
    assert logs.write_blocking(log_store.tail, FENCE, 100) == b"0123456789abcdef"
    assert logs.write_blocking(log_store.tail, 999, 8) == b""
    # A tail of 8 bytes reads two chunks at most: what is before them is not missing.
    add(logs, 16, b"g")
    add(logs, 17, b"h")
    assert logs.write_blocking(log_store.tail, FENCE, 8) == b"gh"


def test_the_middle_is_removed_and_both_ends_stay(
    logs: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store, "MAX_KEPT_BYTES", 100)
    monkeypatch.setattr(log_store, "HEAD_BYTES", 20)
    stream = b"".join(b"%04d\n" % n for n in range(200))
    for at in range(0, len(stream), 10):
        add(logs, at, stream[at : at + 10], line=at // 5)
    actual_log = log(logs)
    assert actual_log.bytes_seen == len(stream) == 1_000
    assert actual_log.bytes_kept <= 100
    data = text(logs)
    assert data.startswith(stream[:20])
    assert data.endswith(stream[-80:])
    assert log_store.gap_text(20, 1_000 - 80) in data
    assert add(logs, 0, stream) == len(stream)


def test_a_piece_after_a_lost_one_is_refused(logs: Database) -> None:
    """The piece before it was sent and could not be stored: this is not a gap that the agent
    reported."""
    behind = [
        LogPiece(FENCE, JOB, 4, 1, b"two\n", after=4),
        LogPiece(FENCE, JOB, 8, 2, b"3", after=8),
    ]
    other = LogPiece(8, JOB, 0, 0, b"x")
    number, two, three = logs.write_blocking(log_store.append, [*behind, other])
    assert isinstance(number, Unavailable) and isinstance(two, Unavailable) and three == 1
    again = [LogPiece(FENCE, JOB, 0, 0, b"one\n"), *behind]
    assert logs.write_blocking(log_store.append, again) == [9, 9, 9]
    assert [chunk.at_byte for chunk in logs.write_blocking(log_store.chunks, FENCE, 0)] == [0, 4, 8]


def test_a_gap_reported_by_the_agent_is_stored(logs: Database) -> None:
    add(logs, 0, b"one\n")
    piece = LogPiece(FENCE, JOB, 100, 9, b"late\n", after=4)
    assert logs.write_blocking(log_store.append, [piece]) == [105]


def test_logs_of_a_job_are_forgotten_together(logs: Database) -> None:
    add(logs, 0, b"x")
    add(logs, 0, b"y", fence=8)
    logs.write_blocking(log_store.append, [LogPiece(9, "b" * 24, 0, 0, b"z")])
    logs.write_blocking(log_store.delete, [JOB])
    assert [logs.write_blocking(log_store.find, fence) is None for fence in (7, 8, 9)] == [
        True,
        True,
        False,
    ]
    assert logs.write_blocking(log_store.chunks, 7, 0) == []


def test_files_of_a_job_are_forgotten_with_them(logs: Database) -> None:
    for fence, job_id in ((7, JOB), (9, "b" * 24)):
        logs.write_blocking(
            artifacts.append, [artifacts.ArtifactPiece(fence, job_id, 0, 0, b"content")]
        )
    logs.write_blocking(log_store.delete, [JOB])
    remaining = logs.write_blocking(
        lambda tx: tx.rows("select distinct fence from job_file_chunks")
    )
    assert remaining == [(9,)]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # the rule is not the engine's
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    stream=st.binary(min_size=1, max_size=300),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    repeats=st.lists(st.integers(0, 5), max_size=6),
    fence=st.integers(10, 1 << 40),
)
def test_any_cuts_and_repeats_give_the_stream_as_produced(
    logs: Database, stream: bytes, cuts: list[int], repeats: list[int], fence: int
) -> None:
    """Connections break anywhere, and the agent sends again from any position below what the server
    lacks."""
    logs.write_blocking(log_store.delete, [JOB])
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    items = list(zip(bounds, bounds[1:], strict=False))
    for again in repeats:
        if again < len(items):
            items.insert(again + 1, items[max(0, again - 1)])
    for start, end in items:
        add(logs, start, stream[start:end], stream[:start].count(b"\n"), fence)
    chunks = logs.write_blocking(log_store.chunks, fence, 0, 10_000)
    assert b"".join(chunk.data for chunk in chunks) == stream
    actual_log = logs.write_blocking(log_store.find, fence)
    assert actual_log is not None
    assert (actual_log.bytes_seen, actual_log.lines_seen) == (len(stream), stream.count(b"\n"))
