"""Blocks that another thread reads ahead."""

import threading
from collections.abc import Iterator

import pytest

from belvedere.db.backup import read_ahead
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
