"""Blocks that another thread reads ahead."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from belvedere.db.backup import read_ahead
from belvedere.db.backup.archive import BLOCK, FORMAT, BackupWriter, Manifest, open_backup
from belvedere.db.backup.read_ahead import AHEAD


def reader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "backup reader"]


def test_blocks_stay_in_order() -> None:
    blocks = [bytes([number]) for number in range(100)]
    assert list(read_ahead.read_ahead(iter(blocks))) == blocks
    assert list(read_ahead.read_ahead(iter([]))) == []
    assert reader_threads() == []


def test_an_error_is_raised_at_its_place() -> None:
    def truncated_blocks() -> Iterator[bytes]:
        yield b"1"
        raise EOFError("truncated")

    blocks = read_ahead.read_ahead(truncated_blocks())
    assert next(blocks) == b"1"
    with pytest.raises(EOFError, match="truncated"):
        next(blocks)
    assert reader_threads() == []


def test_blocks_are_read_before_they_are_needed() -> None:
    is_full = threading.Event()

    def count_blocks() -> Iterator[bytes]:
        for number in range(100):
            # It waits for space in the queue with this block.
            if number == AHEAD:
                is_full.set()
            yield b"block"

    blocks = read_ahead.read_ahead(count_blocks())
    assert next(blocks) == b"block"
    assert is_full.wait(10)
    assert len([*blocks]) == 99


@pytest.mark.parametrize(("count", "threads"), [(1, 0), (AHEAD + 4, 1)])
def test_large_parts_of_a_backup_are_read_ahead(tmp_path: Path, count: int, threads: int) -> None:
    """For one block, starting a thread would take longer. The thread of a part with more blocks
    than it may read ahead cannot have ended yet."""
    content = os.urandom(count * BLOCK)
    with (tmp_path / "backup.zip").open("wb") as file:
        writer = BackupWriter(file)
        with writer.part("tables/jobs.copy") as append:
            append(content)
        writer.finish(Manifest(FORMAT, "1", "sqlite", "", 1, "", [], {}), None)
    with open_backup(tmp_path / "backup.zip") as reader:
        blocks = reader.blocks(reader.manifest.parts[0], lambda *_: None)
        first = next(blocks)
        assert len(reader_threads()) == threads
        assert first + b"".join(blocks) == content
    assert reader_threads() == []


def test_few_blocks_are_in_memory_and_the_thread_ends_early() -> None:
    count = 0

    def endless() -> Iterator[bytes]:
        nonlocal count
        while True:
            count += 1
            yield b"block"

    blocks = read_ahead.read_ahead(endless())
    for _ in range(10):
        next(blocks)
    assert count <= 10 + AHEAD + 1
    blocks.close()  # type: ignore[attr-defined]
    assert reader_threads() == []
