"""Updates of the agent: a new version takes over, a bad one never stays."""

import asyncio
import errno
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import belvedere
from agent.agent_process import AgentProcess
from agent.fake_server import FakeServer
from belvedere import __version__
from belvedere.agent import main
from belvedere.agent.setup import install
from belvedere.agent.setup.enrolment import save_update_key
from belvedere.agent.setup.settings import parse
from belvedere.agent.state_folder import StateFolder, prepare
from belvedere.agent.updates import programs as programs_module
from belvedere.agent.updates import record as records
from belvedere.agent.updates import signature
from belvedere.agent.updates.programs import Programs
from belvedere.agent.updates.transfer import AgentUpdates, UpdateReady, UpdateTransfer
from belvedere.protocol import BlobRequest, UpdateOffer, pack_blob
from belvedere.server.agents.package import archive

KEY, NEW = "k" * 64, "9.9.0"
CRASH = b"""\
import sys
if sys.argv[1:] == ["--version"]:
    print("belvedere-agent 9.9.0")
    sys.exit(0)
sys.exit(7)
"""


@cache
def build(version: str, main: bytes = b"") -> bytes:
    """The agent of this source with another version."""
    buffer = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(archive()))
    with zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "belvedere/__init__.py":
                content = content.replace(__version__.encode(), version.encode())
            target.writestr(name, main if main and name == "__main__.py" else content)
    return buffer.getvalue()


def make_offer(
    content: bytes, session: int, version: str = NEW, key: str = KEY, **changes: Any
) -> UpdateOffer:
    """Signed for the host `h`; the changes are made afterwards."""
    sha256 = hashlib.sha256(content).hexdigest()
    offer = UpdateOffer(version, sha256, len(content), changes.pop("signed_downgrade", False))
    offer.signature = signature.sign(key, "h", session, offer)
    for name, value in changes.items():
        setattr(offer, name, value)
    return offer


class FileAgent(AgentProcess):
    """The agent as it is installed: one file in its state folder."""

    def __init__(self, state: Path, url: str) -> None:
        super().__init__(state, url)
        save_update_key(self.folder, KEY)
        self.file = state / "program" / "belvedere-agent-base.pyz"
        self.file.parent.mkdir(mode=0o755)
        self.file.write_bytes(archive())
        self.file.chmod(0o755)

    def start(self, *options: str, **environment: str) -> None:
        words = [str(self.file), "--server", self._url, "--state", self.folder.root]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", *words, "--hostname", "web", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "NO_PROXY": "*", **environment},
            )


async def send_offer(server: FakeServer, content: bytes) -> None:
    server.blobs[hashlib.sha256(content).hexdigest()] = content
    offer = make_offer(content, server.session)
    fields = ("version", "sha256", "size", "downgrade", "signature", "key", "kind")
    await server.send_messages({name: getattr(offer, name) for name in fields})


async def test_a_new_version_takes_over_while_a_script_runs(tmp_path: Path) -> None:
    server = FakeServer()
    await server.open()
    agent = FileAgent(tmp_path / "state", server.url)
    end = tmp_path / "end"
    try:
        agent.start()
        await server.wait_connected()
        assert (server.hellos[0]["agent_version"], server.hellos[0]["updates"]) == (
            __version__,
            "pinned",
        )
        fence = await server.order(f"while [ ! -e {end} ]; do sleep 0.05; done; echo finished\n")
        await server.until(lambda: any(item["kind"] == "started" for item in server.heard))
        await send_offer(server, build(NEW))
        await server.until(lambda: server.hellos[-1]["agent_version"] == NEW)
        hello = server.hellos[-1]
        assert [entry["state"] for entry in hello["entries"]] == ["live"]
        assert hello["update_error"] == ""
        await server.wait_connected(len(server.hellos))
        end.touch()
        assert (await server.log(fence)) == "finished\n"
        # The service starts the installed file again, and that file the new version.
        await agent.stop()
        count = len(server.hellos)
        agent.start()
        await server.until(lambda: len(server.hellos) > count)
        assert server.hellos[-1]["agent_version"] == NEW
        assert server.faults == []
    finally:
        agent.end()
        await server.close()


async def test_a_version_that_does_not_start_is_given_up(tmp_path: Path) -> None:
    server = FakeServer()
    await server.open()
    agent = FileAgent(tmp_path / "state", server.url)
    try:
        agent.start()
        await server.wait_connected()
        await send_offer(server, build(NEW, CRASH))
        for _ in range(records.MAX_STARTS):
            assert agent.process is not None
            assert await asyncio.to_thread(agent.process.wait, 40) == 7
            agent.start()
        await server.until(lambda: len(server.hellos) > 1)
        hello = server.hellos[-1]
        assert (hello["agent_version"], hello["updates"]) == (__version__, "")
        assert hello["update_error"] == (
            f"Version {NEW} was started 3 times and did not connect to the server."
        )
    finally:
        agent.end()
        await server.close()


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    folder = prepare(str(tmp_path / "state"))
    save_update_key(folder, KEY)
    return folder


@pytest.fixture
def programs(folder: StateFolder) -> Programs:
    base = Path(folder.root) / "program" / "belvedere-agent-base.pyz"
    base.parent.mkdir()
    base.write_bytes(b"base")
    return Programs(folder, base, None)


async def update(
    programs: Programs, folder: StateFolder, offer: UpdateOffer, content: bytes
) -> str:
    """How an update ends: an empty text, or why it failed."""
    requests: list[BlobRequest] = []
    updates = AgentUpdates(folder, "h", programs)
    transfer = UpdateTransfer(updates, 5, requests.append)
    transfer.take(offer)
    if requests:
        assert transfer.feed(pack_blob(requests[0].sha256, content, last=True))
    try:
        await transfer.run()
    except UpdateReady:
        return ""
    except OSError:
        assert updates.readiness == ""
        assert programs.select() is None
        return updates.error
    raise AssertionError("run() returned")


async def test_an_update_is_stored_and_selected(programs: Programs, folder: StateFolder) -> None:
    content = build(NEW)
    assert await update(programs, folder, make_offer(content, 5), content) == ""
    path = programs.select()
    assert path is not None and path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o700


OLDER = "0.0.1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"key": "x" * 64}, "signature"),
        ({"signature": ""}, "signature"),
        ({"version": "9.9.1"}, "signature"),
        ({"sha256": "0" * 64}, "signature"),
        ({"size": 5}, "signature"),
        ({"downgrade": True}, "signature"),
    ],
)
async def test_a_changed_offer_is_refused(
    programs: Programs, folder: StateFolder, changes: dict[str, Any], reason: str
) -> None:
    content = b"evil"
    if "key" in changes:
        offer = make_offer(content, 5, key=changes["key"])
        # A key in the offer does not replace the pinned one.
        offer.key = changes["key"]
    else:
        offer = make_offer(content, 5)
        for name, value in changes.items():
            setattr(offer, name, value)
    assert reason in await update(programs, folder, offer, content)


async def test_a_recorded_offer_is_refused_on_another_connection(
    programs: Programs, folder: StateFolder
) -> None:
    assert "signature" in await update(programs, folder, make_offer(b"x", 4), b"x")


async def test_an_older_or_equal_version_is_refused(
    programs: Programs, folder: StateFolder
) -> None:
    content = build(OLDER)
    offer = make_offer(content, 5, OLDER)
    assert "is older than" in await update(programs, folder, offer, content)
    offer = make_offer(b"x", 5, __version__)
    assert "already runs" in await update(programs, folder, offer, b"x")
    offer = make_offer(content, 5, OLDER, signed_downgrade=True)
    assert await update(programs, folder, offer, content) == ""


async def test_a_damaged_download_is_refused(programs: Programs, folder: StateFolder) -> None:
    content = build(NEW)
    offer = make_offer(content, 5)
    assert "truncated" in await update(programs, folder, offer, content[:-1])
    assert "truncated" in await update(programs, folder, offer, content[:-1] + b"x")
    assert "larger" in await update(programs, folder, offer, content + b"x")


async def test_a_program_that_cannot_run_is_refused(
    programs: Programs, folder: StateFolder
) -> None:
    for content in (b"no program", build("9.9.1")):
        message = await update(programs, folder, make_offer(content, 5), content)
        assert "does not start" in message


async def test_a_full_disk_is_reported_and_changes_nothing(
    programs: Programs, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = build(NEW)
    real_write = records.write_private

    def write(path: Path, content: bytes, mode: int) -> None:
        if path.suffix == ".pyz":
            raise OSError(errno.ENOSPC, "No space left on device")
        real_write(path, content, mode)

    monkeypatch.setattr(records, "write_private", write)
    message = await update(programs, folder, make_offer(content, 5), content)
    assert message == "It cannot be stored: No space left on device."


async def test_links_are_never_followed(
    programs: Programs, folder: StateFolder, tmp_path: Path
) -> None:
    content, target = build(NEW), tmp_path / "target"
    target.write_bytes(b"precious")
    sha256 = hashlib.sha256(content).hexdigest()
    path = Path(folder.root) / "program" / f"belvedere-agent-{sha256[:12]}.pyz"
    path.with_name(path.name + ".new").symlink_to(target)
    path.symlink_to(target)
    assert await update(programs, folder, make_offer(content, 5), content) == ""
    assert target.read_bytes() == b"precious"
    assert programs.select() == path
    # A link to the same bytes in place of the program.
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert programs.select() is None
    assert "was changed" in records.load(folder).error


async def test_a_changed_program_is_not_started(programs: Programs, folder: StateFolder) -> None:
    content = build(NEW)
    await update(programs, folder, make_offer(content, 5), content)
    path = programs.select()
    assert path is not None
    path.chmod(0o722)
    assert programs.select() is None
    assert "was changed" in records.load(folder).error


async def test_a_downgrade_to_the_installed_version_starts_it(
    programs: Programs, folder: StateFolder
) -> None:
    assert programs.base is not None
    base = programs.base.with_name(f"belvedere-agent-{'b' * 12}.pyz")
    base.write_bytes(build(OLDER))
    content = build(NEW)
    await update(Programs(folder, base, None), folder, make_offer(content, 5), content)
    new_path = Programs(folder, base, None).select()
    assert new_path is not None
    newer = Programs(folder, new_path, base)
    newer.confirm()
    offer = make_offer(base.read_bytes(), 5, OLDER, signed_downgrade=True)
    assert newer.install(offer, base.read_bytes()) == base
    again = Programs(folder, base, None)
    assert again.select() is None and not again.is_on_trial


async def test_the_same_file_installed_by_hand_ends_the_update(
    folder: StateFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "agent.pyz"
    file.write_bytes(archive())
    monkeypatch.setattr(belvedere, "__file__", str(file / "belvedere" / "__init__.py"))
    base = Path(install._program(folder)[-1])
    content = build(NEW)
    await update(Programs(folder, base, None), folder, make_offer(content, 5), content)
    assert Programs(folder, base, None).select() is not None
    assert Path(install._program(folder)[-1]) == base
    assert Programs(folder, base, None).select() is None


async def test_a_failure_counts_although_the_disk_is_full(
    programs: Programs, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path, content: bytes, mode: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(records, "write_private", write)
    content = build(NEW)
    message = await update(programs, folder, make_offer(content, 5), content)
    assert message == "It cannot be stored: No space left on device."


async def test_a_failure_counts_although_the_own_file_is_deleted(
    programs: Programs, folder: StateFolder
) -> None:
    assert programs.base is not None
    programs.base.unlink()
    programs.fail("The download is truncated or damaged.")
    updates = AgentUpdates(folder, "h", programs)
    assert (updates.readiness, updates.error) == ("", "The download is truncated or damaged.")


def test_a_program_that_has_connected_is_not_on_trial_although_the_disk_is_full(
    programs: Programs, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = build(NEW)
    path = programs.install(make_offer(content, 5), content)
    newer = Programs(folder, path, programs.base)
    assert newer.is_on_trial
    monkeypatch.setattr(newer, "_save", lambda record: False)
    newer.confirm()
    assert not newer.is_on_trial


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_key_that_cannot_be_read_is_not_replaced(
    programs: Programs, folder: StateFolder, is_empty: bool
) -> None:
    path = Path(folder.root) / "update.key"
    path.unlink()
    if is_empty:
        path.touch()
    else:
        path.symlink_to(folder.root)
    updates = AgentUpdates(folder, "h", programs)
    assert updates.readiness == ""
    offer = make_offer(b"x", 5)
    offer.key = KEY
    with pytest.raises(OSError):
        updates.check(offer, 5)


def test_the_new_program_does_not_read_the_token_again() -> None:
    arguments = programs_module._arguments
    assert arguments(["--server", "x"]) == ["--server", "x"]
    once = arguments(["--token-file", "-"])
    assert once == ["--token-file", "-", "--token-file", os.devnull]
    assert arguments(once) == once
    assert arguments(["--token-file=t"])[-1] == os.devnull
    assert parse(["--server", "https://x", *arguments(["--token-file", "gone"])], {}).token == ""


async def test_an_installation_by_hand_ends_the_update(
    programs: Programs, folder: StateFolder
) -> None:
    content = build(NEW)
    await update(programs, folder, make_offer(content, 5), content)
    assert programs.base is not None
    programs.base.write_bytes(b"another base")
    assert programs.select() is None
    assert records.load(folder) == records.UpdateRecord()


async def test_an_agent_without_a_key_pins_the_first_key(
    programs: Programs, folder: StateFolder
) -> None:
    save_update_key(folder, "")
    updates = AgentUpdates(folder, "h", programs)
    assert updates.readiness == "unpinned"
    offer = make_offer(b"x", 5)
    offer.key = KEY
    updates.check(offer, 5)
    assert (updates.key, updates.readiness) == (KEY, "pinned")


def test_a_package_cannot_be_updated(folder: StateFolder) -> None:
    own_programs = programs_module.find(folder)
    assert own_programs.archive is None
    assert AgentUpdates(folder, "h", own_programs).readiness == ""


def test_a_damaged_record_is_ignored(folder: StateFolder, programs: Programs) -> None:
    for text in ("", "[]", '{"current": 5}', '{"current": {"name": "x"}}', "\0"):
        (Path(folder.root) / "program" / "update.json").write_text(text)
        assert programs.select() is None


def test_an_agent_can_be_excluded(tmp_path: Path) -> None:
    words = ["--server", "https://x", "--state", str(tmp_path)]
    assert parse(words, {}).updates is True
    excluded = parse([*words, "--no-updates"], {})
    assert excluded.updates is False
    assert "--no-updates" in install.unit_text(["agent"], excluded)
    assert "--no-updates" not in install.unit_text(["agent"], parse(words, {}))


async def test_a_version_that_does_not_connect_is_given_up(
    programs: Programs, folder: StateFolder
) -> None:
    content = build(NEW)
    await update(programs, folder, make_offer(content, 5), content)
    path = programs.select()
    new_programs = Programs(folder, path, programs.base)
    assert new_programs.is_on_trial and not programs.is_on_trial
    task = asyncio.ensure_future(asyncio.Event().wait())
    main._end_trial(task, new_programs)  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        await task
    assert new_programs.has_returned
    assert "did not connect to the server within" in records.load(folder).error
    assert programs.select() is None


async def test_a_version_that_has_connected_stays(programs: Programs, folder: StateFolder) -> None:
    content = build(NEW)
    await update(programs, folder, make_offer(content, 5), content)
    path = programs.select()
    new_programs = Programs(folder, path, programs.base)
    new_programs.confirm()
    for _ in range(records.MAX_STARTS + 1):
        assert programs.select() == path
    task = asyncio.ensure_future(asyncio.Event().wait())
    main._end_trial(task, new_programs)  # type: ignore[arg-type]
    assert not new_programs.has_returned
    task.cancel()


async def test_a_program_that_a_process_uses_is_not_removed(
    programs: Programs, folder: StateFolder
) -> None:
    """A keeper stays as long as its scripts run, through any number of updates."""
    place = Path(folder.root) / "program"
    names = [f"belvedere-agent-{number:012x}.pyz" for number in range(9)]
    for age, name in enumerate(names):
        (place / name).write_bytes(b"old")
        os.utime(place / name, (age + 1, age + 1))
    words = [sys.executable, "-c", "input()", str(place / names[1])]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as keeper:
        content = build(NEW)
        await update(programs, folder, make_offer(content, 5), content)
        Programs(folder, programs.select(), programs.base).confirm()
        keeper.communicate(b"\n")
    rest = {path.name for path in place.glob("*.pyz")}
    assert names[1] in rest
    assert names[0] not in rest and names[2] not in rest
