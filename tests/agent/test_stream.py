"""Sending output: turns, credit, and the report after the last byte."""

from pathlib import Path

import pytest

from belvedere.agent.output.spool import Spool
from belvedere.agent.output.upload import OutputUpload
from belvedere.protocol import CHUNK, AttemptEnded, Report, unpack_output


@pytest.fixture
def streams(tmp_path: Path) -> OutputUpload:
    output_upload = OutputUpload(str(tmp_path))
    output_upload.credit = 1_000_000
    return output_upload


def write_spool(root: Path, fence: int, data: bytes) -> None:
    spool = Spool(str(root), fence)
    spool.write(data, 0)
    spool.close()


def test_output_is_sent_in_chunks(streams: OutputUpload, tmp_path: Path) -> None:
    data = b"some line\n" * 20_000
    write_spool(tmp_path, 1, data)
    streams.grow(1, 150_000)
    streams.end(1, Report("exit", bytes_total=len(data)))
    actual_data = b""
    while isinstance(data_record := streams.next(), bytes):
        fence, at_byte, at_line, piece = unpack_output(data_record)
        assert (fence, at_byte, at_line) == (1, len(actual_data), actual_data.count(b"\n"))
        actual_data += piece
    assert actual_data == data
    assert isinstance(data_record, AttemptEnded)
    assert streams.next() is None


def test_a_report_that_holds_its_log_needs_no_frames(streams: OutputUpload) -> None:
    streams.credit = 0
    streams.end(1, Report("exit", log="hi\n", bytes_total=3))
    assert isinstance(streams.next(), AttemptEnded)
    assert streams.next() is None


def test_credit_is_never_overdrawn_and_holds_back_the_report(
    streams: OutputUpload, tmp_path: Path
) -> None:
    write_spool(tmp_path, 1, b"x" * 100_000)
    streams.credit = 70_000
    streams.end(1, Report("exit", bytes_total=100_000))
    streams.end(2, Report("exit", log=""))
    sizes = []
    ends = []
    while (data := streams.next()) is not None:
        if isinstance(data, AttemptEnded):
            ends.append(data.fence)
        else:
            sizes.append(len(unpack_output(data)[3]))
    assert sizes == [CHUNK, 70_000 - CHUNK]
    assert ends == [2]
    streams.credit += 100_000
    assert isinstance(streams.next(), bytes)
    assert isinstance(streams.next(), AttemptEnded)


def test_streams_take_turns(streams: OutputUpload, tmp_path: Path) -> None:
    for fence in (1, 2, 3):
        write_spool(tmp_path, fence, b"x" * 2 * CHUNK)
        streams.grow(fence, 2 * CHUNK)
    numbers = [
        unpack_output(data)[0] for _ in range(6) if isinstance(data := streams.next(), bytes)
    ]
    assert numbers == [1, 2, 3, 1, 2, 3]


def test_sending_resumes_where_the_server_says(streams: OutputUpload, tmp_path: Path) -> None:
    write_spool(tmp_path, 1, b"first\nsecond\nthird\n")
    streams.resume(1, 13)
    streams.grow(1, 19)
    data = streams.next()
    assert isinstance(data, bytes)
    assert unpack_output(data) == (1, 13, 2, b"third\n")


def test_a_dropped_stream_says_nothing_more(streams: OutputUpload, tmp_path: Path) -> None:
    write_spool(tmp_path, 1, b"x")
    streams.grow(1, 1)
    streams.drop(1)
    assert streams.next() is None


def test_deleted_output_is_skipped(streams: OutputUpload) -> None:
    streams.end(1, Report("unknown", bytes_total=12))
    assert isinstance(streams.next(), AttemptEnded)
