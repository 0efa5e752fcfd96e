"""Output on disk: segments, holes, line numbers."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.agent.output import spool
from belvedere.agent.output.spool import FIRST, HEAD, LATER, Spool, SpoolPosition, segment

MIB = 1024 * 1024


def write(root: Path, data: bytes, limit: int = spool.LIMIT) -> Spool:
    new_spool = Spool(str(root), 7, limit)
    feed(new_spool, data)
    return new_spool


def feed(new_spool: Spool, data: bytes) -> None:
    line = 0
    for start in range(0, len(data), 65_000):
        piece = data[start : start + 65_000]
        new_spool.write(piece, line)
        line += piece.count(b"\n")


def assert_true(pieces: list[tuple[int, int, bytes]], data: bytes) -> None:
    """Every piece is what the stream had there, and its line number is right."""
    line = at = 0
    for offset, number, piece in pieces:
        line += data.count(b"\n", at, offset)
        assert number == line
        assert data[offset : offset + len(piece)] == piece
        at = offset


def read_all(
    root: Path, end: int, place: SpoolPosition | None = None
) -> list[tuple[int, int, bytes]]:
    place = place or SpoolPosition(0, 0)
    items = []
    while data := spool.read(str(root), 7, place, end, 60_000):
        items.append((place.offset, place.line, data))
        place.offset += len(data)
        place.line += data.count(b"\n")
    assert place.offset == end
    return items


def text(size: int) -> bytes:
    return (b"a line of some length, number %d\n" * (size // 30))[:size]


def test_spooled_output_is_read_completely(tmp_path: Path) -> None:
    data = text(6 * MIB)
    write(tmp_path, data).close()
    pieces = read_all(tmp_path, len(data))
    assert b"".join(piece for _, _, piece in pieces) == data
    assert_true(pieces, data)
    assert spool.list_spools(str(tmp_path)) == {7: len(data)}


@given(st.integers(0, 200 * MIB))
def test_segments_tile_the_stream(offset: int) -> None:
    start, following = segment(offset)
    assert start <= offset < following
    assert segment(start) == (start, following)
    assert segment(following)[0] == following


def test_the_line_is_found_when_reading_begins_in_the_middle(tmp_path: Path) -> None:
    data = text(6 * MIB)
    write(tmp_path, data).close()
    middle = 2 * MIB + 12_345
    offset, line, piece = read_all(tmp_path, len(data), SpoolPosition(middle, -1))[0]
    assert (offset, line) == (middle, data.count(b"\n", 0, middle))
    assert data[offset:].startswith(piece)


def test_the_first_and_the_newest_segments_stay(tmp_path: Path) -> None:
    data = text(30 * MIB)
    write(tmp_path, data, limit=14 * MIB).close()
    names = sorted(int(path.stem) for path in (tmp_path / "7").iterdir())
    assert names[0] == 0
    assert names[1:] == [segment(offset)[0] for offset in range(names[1], 30 * MIB, LATER)]
    assert sum(path.stat().st_size for path in (tmp_path / "7").iterdir()) <= 14 * MIB
    pieces = read_all(tmp_path, len(data))
    assert_true(pieces, data)
    jump = [
        (before[0] + len(before[2]), after[0])
        for before, after in zip(pieces, pieces[1:], strict=False)
        if before[0] + len(before[2]) != after[0]
    ]
    assert jump == [(FIRST, names[1])]


def test_segments_that_the_server_has_are_deleted(tmp_path: Path) -> None:
    data = text(10 * MIB)
    new_spool = write(tmp_path, data)
    new_spool.trim(5 * MIB)
    assert sorted(int(path.stem) for path in (tmp_path / "7").iterdir()) == [5 * MIB, 9 * MIB]
    new_spool.trim(10 * MIB)
    assert [path.name for path in (tmp_path / "7").iterdir()] == [f"{9 * MIB}.seg"]
    new_spool.close()
    spool.trim(str(tmp_path), 7, 13 * MIB)
    assert list((tmp_path / "7").iterdir()) == []
    spool.trim(str(tmp_path), 8, 13 * MIB)
    spool.clear(str(tmp_path), 7)
    assert not (tmp_path / "7").exists()


def test_a_full_disk_leaves_a_hole_and_no_shift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = text(8 * MIB)
    new_spool = Spool(str(tmp_path), 7)
    real = os.write

    def full(fd: int, piece: bytes) -> int:
        if len(piece) > HEAD and 2 * MIB <= new_spool.end < 3 * MIB:
            raise OSError(28, "No space left on device")
        return real(fd, piece)

    monkeypatch.setattr(os, "write", full)
    feed(new_spool, data)
    new_spool.close()
    pieces = read_all(tmp_path, len(data))
    assert_true(pieces, data)
    number = sum(len(piece) for _, _, piece in pieces)
    # Only what was written in the meantime: the disk is used again as soon as it has space.
    assert MIB - 65_000 <= len(data) - number <= MIB + 65_000


def test_a_segment_cut_short_by_a_power_loss_is_jumped(tmp_path: Path) -> None:
    data = text(6 * MIB)
    write(tmp_path, data).close()
    os.truncate(tmp_path / "7" / "0.seg", HEAD + 1000)
    os.truncate(tmp_path / "7" / f"{FIRST}.seg", 0)
    pieces = read_all(tmp_path, len(data))
    assert [pieces[0][0], pieces[1][0]] == [0, FIRST + LATER]
    assert pieces[1][1] == data.count(b"\n", 0, FIRST + LATER)
