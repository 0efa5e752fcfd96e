"""A stored file that the agent maintains, and everything that can prevent it."""

import base64
import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from belvedere.agent.checks import file_writer
from belvedere.agent.checks.kinds import maintained_file
from belvedere.agent.checks.outcome import Outcome

CONTENT = b"Listen 80\n"
TEMPORARY = ".belvedere-m1-1"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change owners")


def config_for(path: Path, content: bytes = CONTENT, **more: Any) -> dict[str, Any]:
    return {
        "path": str(path),
        "permissions": "0640",
        "os_username": "",
        "os_groupname": "",
        "source": base64.b64encode(content).decode(),
        "problem": "",
        "temporary": TEMPORARY,
        "restores": True,
        **more,
    }


async def run(path: Path, memory: dict[str, Any] | None = None, **more: Any) -> Outcome:
    return await maintained_file.check(config_for(path, **more), {} if memory is None else memory)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


async def test_a_missing_file_is_restored(tmp_path: Path) -> None:
    path, memory = tmp_path / "new" / "folder" / "site.conf", dict[str, Any]()
    first = await run(path, memory)
    assert (first.state, first.event) == ("changed", "file:restored")
    assert first.message == f"{path} did not exist and was restored."
    assert (path.read_bytes(), mode(path)) == (CONTENT, 0o640)
    assert (await run(path, memory)).state == "normal"
    path.write_bytes(b"Listen 81\n")
    again = await run(path, memory)
    assert (again.event, again.data["restored"]) == ("file:restored", ["content"])
    assert path.read_bytes() == CONTENT
    path.chmod(0o666)
    assert (await run(path, memory)).message == f"{path} had another mode and was restored."
    assert mode(path) == 0o640
    path.unlink()
    assert (await run(path, memory)).state == "changed"
    assert (await run(path, memory)).state == "normal"
    assert os.listdir(path.parent) == ["site.conf"]


async def test_new_content_is_written(tmp_path: Path) -> None:
    path = tmp_path / "site.conf"
    await run(path)
    assert (await run(path, content=b"")).data["restored"] == ["content"]
    assert path.read_bytes() == b""


async def test_a_change_with_the_old_size_and_time_is_noticed(tmp_path: Path) -> None:
    path, memory = tmp_path / "site.conf", dict[str, Any]()
    await run(path, memory)
    before = path.stat()
    path.write_bytes(CONTENT.swapcase())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await run(path, memory)).data["restored"] == ["content"]


async def test_an_unchanged_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, memory = tmp_path / "site.conf", dict[str, Any]()
    await run(path, memory)
    monkeypatch.setattr(file_writer, "_has_content", lambda *_: pytest.fail("was read"))
    assert (await run(path, memory)).state == "normal"


async def test_a_huge_file_is_replaced_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "site.conf"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    assert (await run(path)).state == "changed"
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "dangling"])
async def test_only_a_regular_file_is_replaced(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "site.conf", tmp_path / "other"
    other.write_bytes(b"precious")
    match kind:
        case "link":
            path.symlink_to(other)
        case "dangling":
            path.symlink_to(tmp_path / "nothing")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    before = path.lstat()
    outcome = await run(path)
    assert (outcome.state, outcome.event) == ("failure", "file:error:type")
    assert "it is not replaced" in outcome.message
    assert path.lstat().st_ino == before.st_ino and other.read_bytes() == b"precious"
    assert not (tmp_path / "nothing").exists()


async def test_a_second_name_of_a_file_keeps_its_content_and_mode(tmp_path: Path) -> None:
    """A user could link a file of another user to the path."""
    path, other = tmp_path / "site.conf", tmp_path / "other"
    other.write_bytes(CONTENT)
    other.chmod(0o600)
    os.link(other, path)
    assert (await run(path)).data["restored"] == ["mode"]
    assert (mode(path), mode(other)) == (0o640, 0o600)
    assert not path.samefile(other)


async def test_a_trusted_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "inner").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(real)
    (real / "relative").symlink_to("../real/inner")
    assert (await run(tmp_path / "absolute" / "relative" / "site.conf")).state == "changed"
    assert (real / "inner" / "site.conf").read_bytes() == CONTENT


@pytest.mark.parametrize("rights", [0o777, 0o775])
async def test_a_link_that_others_can_replace_is_not_followed(tmp_path: Path, rights: int) -> None:
    shared, target = tmp_path / "shared", tmp_path / "target"
    shared.mkdir()
    target.mkdir()
    (shared / "link").symlink_to(target)
    shared.chmod(rights)
    outcome = await run(shared / "link" / "site.conf")
    assert (outcome.state, outcome.event) == ("failure", "file:error:type")
    assert os.listdir(target) == []
    # In a folder like /tmp, no one can replace the links of other users.
    shared.chmod(rights | stat.S_ISVTX)
    assert (await run(shared / "link" / "site.conf")).state == "changed"


@as_root
async def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "target"
    home.mkdir()
    target.mkdir()
    (home / "link").symlink_to(target)
    os.chown(home, 12_345, 12_345)
    outcome = await run(home / "link" / "site.conf")
    assert outcome.event == "file:error:type" and "others can replace" in outcome.message
    os.chown(home, 0, 0)
    os.chown(home / "link", 12_345, 12_345, follow_symlinks=False)
    assert (await run(home / "link" / "site.conf")).event == "file:error:type"
    assert os.listdir(target) == []


async def test_links_that_lead_to_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert (await run(tmp_path / "a" / "site.conf")).event == "file:error:type"


async def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").write_bytes(b"")
    assert (await run(tmp_path / "folder" / "site.conf")).event == "file:error:type"


async def test_an_account_that_does_not_exist_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "site.conf"
    for field, kind in (("os_username", "user"), ("os_groupname", "group")):
        outcome = await run(path, None, **{field: "nobody-at-all"})
        assert outcome.event == "file:error:perm"
        assert outcome.message == (
            f"{path}: The {kind} 'nobody-at-all' does not exist on this host."
        )
    assert not path.parent.exists()


@as_root
async def test_owner_and_group_are_restored(tmp_path: Path) -> None:
    path, memory = tmp_path / "site.conf", dict[str, Any]()
    expected = {"os_username": "12345", "os_groupname": "daemon"}
    await run(path, memory, **expected)
    assert (path.stat().st_uid, path.group()) == (12_345, "daemon")
    os.chown(path, 0, 0)
    assert (await run(path, memory, **expected)).data["restored"] == ["owner", "group"]
    assert (path.stat().st_uid, path.group()) == (12_345, "daemon")
    assert (await run(path, memory, **expected)).state == "normal"


@as_root
async def test_without_an_owner_the_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "site.conf"
    path.write_bytes(b"old")
    os.chown(path, 12_345, 54_321)
    assert (await run(path)).state == "changed"
    assert (path.stat().st_uid, path.stat().st_gid) == (12_345, 54_321)


@as_root
async def test_the_setuid_bit_survives_the_change_of_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    await run(path, permissions="4755", os_username="12345")
    assert mode(path) == 0o4755


@contextlib.contextmanager
def as_other_user() -> Iterator[None]:
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


@as_root
async def test_an_agent_without_root_reports_a_missing_permission() -> None:
    # Not in pytest's folder, which other users cannot enter.
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "site.conf"
        folder.chmod(0o755)
        path.write_bytes(b"old")
        with as_other_user():
            denied = maintained_file.maintain(config_for(path), {})
        assert (denied.state, denied.event) == ("failure", "file:error:access")
        os.chown(folder, 65_534, 65_534)
        with as_other_user():
            foreign = maintained_file.maintain(config_for(path, os_username="root"), {})
        assert (foreign.state, foreign.event) == ("failure", "file:error:perm")
        assert foreign.message.endswith("The agent may not set the owner.")
        assert path.read_bytes() == b"old" and os.listdir(folder) == ["site.conf"]
        with as_other_user():
            assert maintained_file.maintain(config_for(path), {}).state == "changed"
        assert (path.read_bytes(), path.stat().st_uid) == (CONTENT, 65_534)


async def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "site.conf"
    path.write_bytes(b"old")
    real, written = os.write, list[int]()

    def write(fd: int, data: Any) -> int:
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(real(fd, data[:3]))
        return written[0]

    monkeypatch.setattr(os, "write", write)
    outcome = await run(path)
    assert (outcome.state, outcome.event) == ("failure", "file:error:disk")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["site.conf"]


async def test_the_rest_of_a_killed_agent_is_replaced(tmp_path: Path) -> None:
    (tmp_path / TEMPORARY).write_bytes(b"part")
    assert (await run(tmp_path / "site.conf")).state == "changed"
    assert os.listdir(tmp_path) == ["site.conf"]


async def test_a_trial_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "site.conf"
    missing = await run(path, restores=False)
    assert (missing.state, missing.event) == ("changed", "file:changed")
    assert not path.parent.exists()
    path.parent.mkdir()
    path.write_bytes(b"old")
    assert "had another content, mode" in (await run(path, restores=False)).message
    assert path.read_bytes() == b"old"


async def test_a_problem_of_the_configuration_is_reported(tmp_path: Path) -> None:
    outcome = await run(tmp_path / "x", problem="The stored file no longer exists.")
    assert (outcome.state, outcome.event) == ("failure", "file:error:config")
    assert not (tmp_path / "x").exists()
