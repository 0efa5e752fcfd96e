"""What is recorded about a stream of output."""

import hashlib
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.agent.output.capture import MAX_LAST_LINE, OutputCapture

PIECES = st.lists(st.text("ab \n\t\r\u20ac\0", max_size=8).map(str.encode), max_size=12)


def last_line(data: bytes) -> bytes:
    lines = [line.strip() for line in data.split(b"\n")]
    return next((line for line in reversed(lines) if line), b"")


def test_short_output_stays_in_memory(tmp_path: Path) -> None:
    output = OutputCapture(inline=100)
    output.feed(b"one\ntw", str(tmp_path), 1)
    output.feed(b"o\n\n", str(tmp_path), 1)
    summary = output.summary()
    assert summary["log"] == "one\ntwo\n\n"
    assert (summary["lastline"], summary["bytes_total"], summary["lines_total"]) == ("two", 9, 3)
    assert list(tmp_path.iterdir()) == []


@given(PIECES, st.integers(0, 30))
def test_output_is_correct_for_any_stream(pieces: list[bytes], inline: int) -> None:
    data = b"".join(pieces)
    with tempfile.TemporaryDirectory() as folder:
        output = OutputCapture(inline)
        for piece in pieces:
            output.feed(piece, folder, 1)
        summary = output.summary()
        is_inline = len(data) <= inline
        assert ("log" in summary) == is_inline
        assert summary["sha256"] == hashlib.sha256(data).hexdigest()
        assert summary.get("bytes_total", 0) == len(data)
        assert summary.get("lines_total", 0) == len(io.BytesIO(data).readlines())
        assert summary.get("lastline", "") == last_line(data).decode().replace("\0", "\ufffd")
        if not is_inline:
            assert (Path(folder) / "1" / "0.seg").read_bytes()[8:] == data


@pytest.mark.parametrize("count", [1, 3])
def test_the_hash_of_long_output_is_correct(tmp_path: Path, count: int) -> None:
    data = b"0123456789abcde\n" * 65_536 * count + b"x"
    output = OutputCapture(inline=100)
    for start in range(0, len(data), 50_000):
        output.feed(data[start : start + 50_000], str(tmp_path), 1)
    assert output.summary()["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_line_longer_than_a_report_may_carry_keeps_its_beginning(tmp_path: Path) -> None:
    output = OutputCapture(inline=100)
    for _ in range(10):
        output.feed(b"x" * 100_000, str(tmp_path), 1)
    output.feed(b"y\n \n", str(tmp_path), 1)
    assert output.summary()["lastline"] == "x" * MAX_LAST_LINE


def test_a_cut_character_at_the_limit_does_not_break_the_text(tmp_path: Path) -> None:
    output = OutputCapture(inline=100)
    output.feed("€".encode() * 100_000, str(tmp_path), 1)
    assert output.summary()["lastline"] == "€" * (MAX_LAST_LINE // 3) + "\ufffd"
