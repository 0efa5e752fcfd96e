"""One terminal of a reader: a shell whose variables and folder last from command to command."""

import os
import re
import signal
import subprocess
from pathlib import Path

END = "=== end of command"
# The addresses of the server in the pages.
LOCAL, PUBLIC = "http://127.0.0.1:8420", "https://belvedere.example.org"


class Shell:
    """In a folder of its own, with an empty HOME."""

    def __init__(self, folder: Path, server: str, env: dict[str, str]) -> None:
        self.folder = folder
        # Addresses of the pages, and what they are here.
        self.addresses = {LOCAL: server, PUBLIC: server}
        (folder / "home").mkdir(parents=True)
        (folder / "work").mkdir()
        self.code = 0
        self._process = subprocess.Popen(
            ["bash", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder / "work",
            env={**env, "HOME": str(folder / "home"), "NO_COLOR": "1", "COLUMNS": "120"},
            start_new_session=True,
        )

    def run(self, command: str, typed: str = "") -> str:
        """Its output, standard error included; `code` is its exit status."""
        (self.folder / "command").write_text(f"(exit {self.code})\n{command}\n")
        (self.folder / "typed").write_text(typed)
        assert self._process.stdin is not None
        call = f"source {self.folder}/command < {self.folder}/typed; printf '\\n{END} %s\\n' $?\n"
        self._process.stdin.write(call)
        self._process.stdin.flush()
        return self._output()

    def _output(self) -> str:
        lines: list[str] = []
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if (end := re.match(rf"{END} (\d+)$", line)) is not None:
                self.code = int(end[1])
                return "".join(lines).removesuffix("\n").removesuffix("\n")
            lines.append(line)
        raise AssertionError(f"the shell ended: {''.join(lines)}")

    def write(self, name: str, content: str) -> None:
        (self.folder / "work" / name).write_text(content)

    def close(self) -> None:
        """With everything that was started in the background."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
