"""A real agent in a process of its own, with its keeper, in a folder of the test."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from agent.processes import command_lines, with_cookie
from belvedere.agent.state_folder import StateFolder, prepare


class AgentProcess:
    def __init__(self, state: Path, url: str) -> None:
        self.folder: StateFolder = prepare(str(state))
        self._url = url
        self._log = state / "agent.log"
        credential = {"token": "bva_secret", "host_id": "h", "customer": "acme", "hostname": "web"}
        Path(self.folder.credential).write_text(json.dumps(credential))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        words = ["-m", "belvedere.agent", "--server", self._url, "--state", self.folder.root]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *words, "--hostname", "web"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "NO_PROXY": "*", **environment},
            )

    def log(self) -> str:
        return self._log.read_text()

    async def wait_for_log(self, words: str) -> None:
        """Wait until the agent has written this to its log."""
        async with asyncio.timeout(40):
            while words not in self.log():
                await asyncio.sleep(0.02)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    async def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return await asyncio.to_thread(self.process.wait, 10)

    def keepers(self) -> list[int]:
        """Processes that use this folder as their state folder; there should never be two."""
        return [pid for pid, line in command_lines() if self._is_keeper(line)]

    def _is_keeper(self, line: str) -> bool:
        return "belvedere.agent.keeper.program" in line and self.folder.root in line.split("\0")

    def kill_keeper(self) -> None:
        for pid in self.keepers():
            os.kill(pid, signal.SIGKILL)

    def scripts(self) -> list[int]:
        """Processes that still have a cookie of this agent."""
        return with_cookie(self.folder.root)

    def end(self) -> None:
        """End every process of this test."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self.kill_keeper()
        for pid in self.scripts():
            os.kill(pid, signal.SIGKILL)
