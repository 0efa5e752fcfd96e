"""Secrets in artifacts are masked before anything is reported about them."""

import errno
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent.workdir import artifact_masking, artifacts
from belvedere.agent.workdir.artifact_masking import TooManySecrets, mask_file
from belvedere.agent.workdir.directories import ANYONE
from belvedere.base.text.masking import Masker

SECRET = "correct-horse/battery+staple"
MOST = 10_000


def read_files(keeper: KeeperHarness, fence: int) -> dict[str, bytes]:
    folder = Path(keeper.folder.files) / str(fence)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@contextmanager
def open_folder(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY)
    yield fd
    os.close(fd)


def mask_in_folder(folder: Path, size: int, masker: Masker, most: int) -> int:
    with open_folder(folder) as directory:
        return mask_file((directory, "f", ANYONE), size, masker, most)


def test_secrets_in_files_are_masked(keeper: KeeperHarness) -> None:
    source = """#!/bin/sh
cd "$BELVEDERE_FILES"
echo "password: $PASSWORD!" > config
printf '\\000\\377%s\\000%s' "$PASSWORD" "$1" > binary
printf '%s' "$PASSWORD" | base64 > packed
chmod 400 config
echo nothing > plain
"""
    fence = keeper.order(
        source, "masked-argument", env={"PASSWORD": SECRET}, masks=[SECRET, "masked-argument"]
    )
    report = keeper.report(fence)
    stars = b"*" * len(SECRET)
    files = read_files(keeper, fence)
    assert files["config"] == b"password: " + stars + b"!\n"
    assert files["binary"] == b"\x00\xff" + stars + b"\x00" + b"*" * 15
    assert set(files["packed"].rstrip(b"=\n")) == {ord("*")}
    assert files["plain"] == b"nothing\n"
    assert report["files"] == [[name, len(data)] for name, data in sorted(files.items())]


def test_a_file_with_a_secret_name_is_not_sent(keeper: KeeperHarness) -> None:
    source = '#!/bin/sh\ncd "$BELVEDERE_FILES"; echo x > "of-$1.txt"; echo x > y; mkdir "$1"\n'
    report = keeper.report(keeper.order(source, "hunter2hunter2", masks=["hunter2hunter2"]))
    assert report["files"] == [["y", 2]]
    assert sorted(report["files_skipped"]) == [["***", "folder"], ["***", "secret"]]


def test_a_file_with_too_many_secrets_is_not_sent(keeper: KeeperHarness) -> None:
    source = (
        '#!/bin/sh\ncd "$BELVEDERE_FILES"; yes "$1" | head -c 2000000 > flood; echo "$1" > one\n'
    )
    report = keeper.report(keeper.order(source, "hunter2hunter2", masks=["hunter2hunter2"]))
    assert ["flood", "secret"] in report["files_skipped"]
    assert report["files"] == [["one", 15]]


def test_a_file_that_cannot_be_masked_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal by the system, simulated here: root may open everything."""
    (tmp_path / "shut").write_text("x\n")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(artifact_masking, "open_regular", refuse)
    with open_folder(tmp_path) as directory:
        record = artifacts._collect(directory, Masker([SECRET]))
    assert record == {"files_skipped": [["shut", "unreadable"]]}


def test_without_secrets_nothing_is_searched(keeper: KeeperHarness) -> None:
    source = f'#!/bin/sh\necho "{SECRET}" > "$BELVEDERE_FILES/x"\n'
    fence = keeper.order(source)
    assert keeper.report(fence)["files"] == [["x", len(SECRET) + 1]]
    assert read_files(keeper, fence)["x"].decode() == f"{SECRET}\n"


def mask(data: bytes, masker: Masker) -> bytes:
    """The same without reading in windows."""
    actual_data = bytearray(data)
    for begin, end in masker.places(data):
        actual_data[begin:end] = b"*" * (end - begin)
    return bytes(actual_data)


def test_adjacent_windows_are_searched_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that overlap each other, at every position."""
    values = ["abcabcab", "cabcabca", "abab", "bcbcbcbcbc", "xyzxyz"]
    masker = Masker(values)
    monkeypatch.setattr(artifact_masking, "WINDOW", masker.longest + 3)
    dice = random.Random(7)
    for _ in range(300):
        size = dice.randrange(0, 6 * artifact_masking.WINDOW)
        data = "".join(dice.choice("abcxyz") for _ in range(size))
        for _ in range(dice.randrange(8)):
            at = dice.randrange(size + 1)
            data = data[:at] + dice.choice(values) + data[at:]
        (tmp_path / "f").write_bytes(data.encode())
        mask_in_folder(tmp_path, len(data), masker, MOST)
        assert (tmp_path / "f").read_bytes() == mask(data.encode(), masker)


def test_too_many_occurrences_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"secret42 " * 5)
    assert mask_in_folder(tmp_path, 45, Masker(["secret42"]), 5) == 5
    (tmp_path / "f").write_bytes(b"secret42 " * 6)
    with pytest.raises(TooManySecrets):
        mask_in_folder(tmp_path, 54, Masker(["secret42"]), 5)


def test_no_form_is_longer_than_a_window() -> None:
    """The longest value that can be masked: an argument, written in the form that makes it
    longest."""
    assert Masker(["\x01" * 128 * 1024]).longest <= artifact_masking.WINDOW
    assert artifacts.MAX_SECRETS == MOST
