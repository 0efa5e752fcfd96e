"""The cache of scripts: contents are verified when they are stored and before they are used."""

import hashlib
import os
from pathlib import Path

import pytest

from belvedere.agent import file_cache
from belvedere.agent.file_cache import FileCache

SCRIPT = b"#!/bin/sh\necho hi\n"
DIGEST = hashlib.sha256(SCRIPT).hexdigest()


def fetch(cache: FileCache, content: bytes, digest: str = "") -> str:
    digest = digest or hashlib.sha256(content).hexdigest()
    cache.expect(digest)
    cache.feed(digest, content[:5], last=False)
    cache.feed(digest, content[5:], last=True)
    return digest


def test_a_file_is_downloaded_and_cached(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path))
    assert cache.path(DIGEST, "a.sh") is None
    cache.expect(DIGEST)
    assert cache.is_downloading(DIGEST)
    assert cache.feed(DIGEST, SCRIPT[:4], last=False) is None
    assert cache.feed(DIGEST, SCRIPT[4:], last=True) is True
    path = cache.path(DIGEST, "a.sh")
    assert path == f"{tmp_path}/{DIGEST}/a.sh"
    assert Path(path).read_bytes() == SCRIPT
    assert os.stat(path).st_mode & 0o777 == 0o755
    assert not list(tmp_path.glob("*.part"))


def test_one_content_is_stored_under_several_names(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path))
    fetch(cache, SCRIPT)
    for name in ("a.sh", "b.sh", "a.sh", "blob"):
        assert cache.path(DIGEST, name) == f"{tmp_path}/{DIGEST}/{name}"


def test_a_fetched_file_survives_a_restart(tmp_path: Path) -> None:
    fetch(FileCache(str(tmp_path)), SCRIPT)
    (tmp_path / "abc.part").write_bytes(b"half")
    cache = FileCache(str(tmp_path))
    assert cache.path(DIGEST, "a.sh") is not None
    assert not (tmp_path / "abc.part").exists()


def test_the_wrong_bytes_are_refused(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path))
    cache.expect(DIGEST)
    assert cache.feed(DIGEST, b"something else", last=True) is False
    assert cache.path(DIGEST, "a.sh") is None
    assert not cache.is_downloading(DIGEST)
    assert list(tmp_path.iterdir()) == []


def test_content_that_was_not_requested_is_ignored(tmp_path: Path) -> None:
    assert FileCache(str(tmp_path)).feed(DIGEST, SCRIPT, last=True) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("restarted", [True, False])
def test_a_script_that_changed_its_own_file_is_fetched_again(
    tmp_path: Path, restarted: bool
) -> None:
    cache = FileCache(str(tmp_path))
    fetch(cache, SCRIPT)
    path = cache.path(DIGEST, "a.sh")
    assert path is not None
    before = os.stat(path)
    Path(path).write_bytes(SCRIPT[:-3] + b"ho\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    if restarted:
        cache = FileCache(str(tmp_path))
    assert cache.path(DIGEST, "a.sh") is None
    fetch(cache, SCRIPT)
    assert Path(cache.path(DIGEST, "a.sh") or "").read_bytes() == SCRIPT


def test_the_least_used_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_cache, "IN_USE_S", -1.0)
    cache = FileCache(str(tmp_path), limit=300)
    first, second = fetch(cache, b"1" * 100), fetch(cache, b"2" * 100)
    assert cache.path(first, "blob")
    third, fourth = fetch(cache, b"3" * 100), fetch(cache, b"4" * 100)
    assert [bool(cache.path(digest, "blob")) for digest in (first, second, third, fourth)] == [
        True,
        False,
        True,
        True,
    ]


def test_a_recently_used_file_is_kept(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path), limit=150)
    first = fetch(cache, b"1" * 100)
    assert cache.path(first, "a")
    fetch(cache, b"2" * 100)
    assert cache.path(first, "a")


def test_a_broken_connection_leaves_no_half_file(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path))
    cache.expect(DIGEST)
    cache.feed(DIGEST, SCRIPT[:4], last=False)
    cache.abandon_all()
    assert not cache.is_downloading(DIGEST)
    assert list(tmp_path.iterdir()) == []
