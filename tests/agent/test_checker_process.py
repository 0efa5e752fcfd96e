"""The checker process: it starts with the first check, ends with the last, and is replaced when it
dies."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.processes import command_lines, is_alive, read
from belvedere.agent.boot import command
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.file_cache import FileCache
from belvedere.agent.monitoring import checker_process
from belvedere.agent.monitoring.checker_main import HEARTBEAT_S
from belvedere.agent.monitoring.checker_process import CheckerProcess
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.protocol import MonitorCheck

pytestmark = pytest.mark.usefixtures("loop_factory")


class SampleRecorder:
    """Records what it gets, and lets a test wait for more."""

    def __init__(self) -> None:
        self.all: list[tuple[str, int, Outcome]] = []
        self._more = asyncio.Event()

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        self.add_all([(monitor_id, version, outcome)])

    def add_all(self, results: Sequence[tuple[str, int, Outcome]]) -> None:
        self.all += results
        self._more.set()

    async def until(self, fits: Callable[[tuple[str, int, Outcome]], bool]) -> Outcome:
        """The next one that matches."""
        at = len(self.all)
        while not any(map(fits, self.all[at:])):
            self._more.clear()
            await self._more.wait()
        return next(item[2] for item in self.all[at:] if fits(item))


@asynccontextmanager
async def run_checker(folder: Path) -> AsyncIterator[tuple[CheckerProcess, SampleRecorder]]:
    notes = SampleRecorder()
    new_checker_process = CheckerProcess(str(folder), notes, ScriptChecks(FileCache(str(folder))))
    async with asyncio.timeout(40):
        yield new_checker_process, notes
        new_checker_process.close()
        await new_checker_process.closed()
        assert processes(folder) == []


def processes(folder: Path) -> list[int]:
    """The processes that run checks of this agent."""
    lines = command_lines()
    return [pid for pid, line in lines if "checker_main" in line and f"\0{folder}\0" in line]


@contextmanager
def open_port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def tcp_check(port: int, version: int = 1, monitor_id: str = "a" * 24) -> MonitorCheck:
    config = {"target": "127.0.0.1", "port": port, "timeout": 5_000}
    return MonitorCheck(monitor_id, "tcp", version, 100, config)


async def test_checks_run_in_one_process(tmp_path: Path) -> None:
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            first = await recorder.until(lambda item: item[0] == "a" * 24)
            assert first.state == "normal" and first.measured["ms"] > 0
            # Other monitors, in the same process.
            before = processes(tmp_path)
            assert len(before) == 1
            post.configure([tcp_check(1, version=2)])
            assert (
                await recorder.until(lambda first_item: first_item[1] == 2)
            ).event == "tcp:error"
            # Only differences, in the same process.
            post.change([tcp_check(port, version=3)], [])
            await recorder.until(lambda item_record: item_record[1] == 3)
            other = "b" * 24
            post.change([tcp_check(port, version=4, monitor_id=other)], ["a" * 24])
            await recorder.until(lambda other_item: other_item[0] == other)
            assert set(post._monitors) == {other}
            assert processes(tmp_path) == before


async def test_without_anything_to_check_there_is_no_process(tmp_path: Path) -> None:
    async with run_checker(tmp_path) as (post, recorder):
        post.configure([])
        assert post._task is None
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            task = post._task
            assert task is not None
            post.configure([])
            await task
            assert processes(tmp_path) == []
            # And once more.
            post.configure([tcp_check(port)])
            await recorder.until(lambda first_item: True)


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 50])
async def test_a_new_check_may_follow_the_removal_of_the_last_one(
    tmp_path: Path, turns: int
) -> None:
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            post.configure([])
            for _ in range(turns):
                await asyncio.sleep(0)
            post.configure([tcp_check(port, version=2)])
            await recorder.until(lambda first_item: first_item[1] == 2)


async def test_a_killed_process_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_process, "BACK_OFF_S", (0.0,))
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            [pid] = processes(tmp_path)
            os.kill(pid, signal.SIGKILL)
            await wait_replaced(tmp_path, pid)
            await recorder.until(lambda first_item: True)


async def test_a_process_that_reports_nothing_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(checker_process, "BACK_OFF_S", (0.0,))
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            [pid] = processes(tmp_path)
            os.kill(pid, signal.SIGSTOP)
            monkeypatch.setattr(checker_process, "STUCK_S", 0.05)
            # It checks again when something changes, not when the limit of this test is reached.
            post._changed_event.set()
            await wait_replaced(tmp_path, pid)
            monkeypatch.setattr(checker_process, "STUCK_S", 60.0)
            await recorder.until(lambda first_item: True)
            assert not is_alive(pid)
    assert "checker process is stuck; killing it" in caplog.text


def test_a_process_without_checks_reports_that_it_is_alive(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*command("belvedere.agent.monitoring.checker_main"), "/nowhere"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b'{"alive":true}\n'
        process.stdin.close()
    assert HEARTBEAT_S * 4 < checker_process.STUCK_S


async def wait_replaced(folder: Path, pid: int) -> None:
    # The system does not report new processes, so the test polls until its own limit.
    while processes(folder) in ([], [pid]):
        await asyncio.sleep(0.01)


async def test_a_checker_that_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_process, "EXIT_TIMEOUT_S", 0.05)
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            [pid] = processes(tmp_path)
            os.kill(pid, signal.SIGSTOP)
            post.configure([])
            await asyncio.sleep(0)
            post.configure([tcp_check(port, version=2)])
            await recorder.until(lambda first_item: first_item[1] == 2)
            assert not is_alive(pid)
            # Also at the end.
            os.kill(processes(tmp_path)[0], signal.SIGSTOP)


async def test_a_checker_that_cannot_start_is_retried_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rests: list[float] = []
    rest = CheckerProcess._back_off

    async def record_rest(post: CheckerProcess, seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 7:
            monkeypatch.setattr(checker_process, "command", command)
        await rest(post, 0)

    monkeypatch.setattr(checker_process, "command", lambda module: [str(tmp_path / "not there")])
    monkeypatch.setattr(CheckerProcess, "_back_off", record_rest)
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
    assert rests == [0.5, 1.0, 2.0, 5.0, 10.0, 10.0, 10.0]
    assert caplog.text.count("FileNotFoundError") == 7


async def test_an_end_does_not_wait_for_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resting = asyncio.Event()
    rest = CheckerProcess._back_off

    async def record_rest(post: CheckerProcess, seconds: float) -> None:
        resting.set()
        await rest(post, 3_600)

    monkeypatch.setattr(checker_process, "command", lambda module: [str(tmp_path / "not there")])
    monkeypatch.setattr(CheckerProcess, "_back_off", record_rest)
    async with run_checker(tmp_path) as (post, _):
        post.configure([tcp_check(1)])
        await resting.wait()
        await asyncio.sleep(0)


async def test_a_checker_that_sends_invalid_messages_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if it takes long."""
    commands = iter([["sh", "-c", "yes nonsense | head -c 300000; exec cat", "checker_main"]])
    real = command
    monkeypatch.setattr(checker_process, "command", lambda module: next(commands, real(module)))
    monkeypatch.setattr(checker_process, "BACK_OFF_S", (0.0,))
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
    assert "checker process failed" in caplog.text


def program(*chunks: bytes) -> "subprocess.CompletedProcess[bytes]":
    """The process itself, which gets this message and then nothing more."""
    return subprocess.run(
        [*command("belvedere.agent.monitoring.checker_main"), "/nowhere"],
        input=b"".join(chunks),
        capture_output=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(("said", "code"), [(b"", 0), (b"{\n", 1), (b'{"number": 1}\n', 1)])
def test_the_checker_exits_with_its_parent_and_on_invalid_input(said: bytes, code: int) -> None:
    assert program(said).returncode == code


async def test_scripts_stay_with_the_keeper(tmp_path: Path) -> None:
    async with run_checker(tmp_path) as (post, recorder):
        config = {"source": "", "filename": "x", "runas": [], "script_arguments": []}
        post.configure([MonitorCheck("b" * 24, "script", 1, 100, {**config, "timeout": 1})])
        outcome = await recorder.until(lambda item: item[0] == "b" * 24)
        assert "keeper" in outcome.message
        assert post._task is None


async def test_the_checker_knows_no_secret_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELVEDERE_ADMIN_PASSWORD", "correct horse")
    async with run_checker(tmp_path) as (post, recorder):
        with open_port() as port:
            post.configure([tcp_check(port)])
            await recorder.until(lambda item: True)
            [pid] = processes(tmp_path)
            assert b"BELVEDERE_" not in read(pid, "environ")


async def test_files_are_not_maintained_where_scripts_have_their_own_user(tmp_path: Path) -> None:
    """An admin who may not run scripts as the agent's user may not write files as that user
    either."""
    path, notes = tmp_path / "site.conf", SampleRecorder()
    config: dict[str, Any] = {"path": str(path), "permissions": "0644", "source": "", "problem": ""}
    config |= {"os_username": "", "os_groupname": "", "temporary": ".new", "restores": True}
    scripts = ScriptChecks(FileCache(str(tmp_path)), "nobody")
    process = CheckerProcess(str(tmp_path), notes, scripts)
    async with asyncio.timeout(40):
        process.configure([MonitorCheck("m1", "maintained_file", 1, 1_000, config)])
        outcome = await notes.until(lambda _: True)
        assert (outcome.state, outcome.event) == ("failure", "file:error:config")
        assert "separate user" in outcome.message and not path.exists()
        process.close()
        await process.closed()
