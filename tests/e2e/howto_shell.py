"""One terminal of a reader: a shell whose variables and folder last from command to command."""

import os
import re
import signal
import subprocess
from pathlib import Path

from belvedere.access.crypto import totp
from belvedere.base.clock import wall

END = "=== end of command"
# In what the reader types: the code that an app shows for the secret in the output.
CODE = "{code}"
SECRET = re.compile(r"\bsecret=([A-Z2-7]+)")
# The addresses of the server in the pages.
LOCAL, PUBLIC = "http://127.0.0.1:8420", "https://belvedere.example.org"


class Shell:
    """In a folder of its own, with an empty HOME."""

    def __init__(
        self, folder: Path, server: str, env: dict[str, str], before: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        # Addresses of the pages, and the real ones.
        self.addresses = {LOCAL: server, PUBLIC: server}
        (folder / "home").mkdir(parents=True)
        (folder / "work").mkdir()
        self.code = 0
        self._process = subprocess.Popen(
            [*before, "bash", "--norc"],
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
        (self.folder / "typed").unlink(missing_ok=True)
        if CODE in typed:
            os.mkfifo(self.folder / "typed")
        else:
            (self.folder / "typed").write_text(typed)
        assert self._process.stdin is not None
        call = f"source {self.folder}/command < {self.folder}/typed; printf '\\n{END} %s\\n' $?\n"
        self._process.stdin.write(call)
        self._process.stdin.flush()
        return self._output(typed)

    def _output(self, typed: str) -> str:
        lines: list[str] = []
        assert self._process.stdout is not None
        pipe = (self.folder / "typed").open("w") if CODE in typed else None
        if pipe is not None:
            print(typed.partition(CODE)[0], file=pipe, end="", flush=True)
        for line in self._process.stdout:
            if pipe is not None and (secret := SECRET.search(line)) is not None:
                with pipe:
                    pipe.write(f"{totp.code_at(secret[1], wall() // totp.STEP)}\n")
                pipe = None
            if (end := re.match(rf"{END} (\d+)$", line)) is not None:
                self.code = int(end[1])
                return "".join(lines).removesuffix("\n").removesuffix("\n")
            lines.append(line)
        raise AssertionError(f"the shell ended: {''.join(lines)}")

    def run_in_background(self, command: str) -> str:
        """Until it is ready; the output so far."""
        log = self.folder / "background"
        log.write_text("")
        waiting = f"until grep -q 'ready at' {log} || ! kill -0 $!; do sleep 0.1; done"
        return self.run(f"(exec {command}) > {log} 2>&1 &\n{waiting}; cat {log}; kill -0 $!")

    def write(self, name: str, content: str) -> None:
        """Through the shell: it may have its own file system."""
        (self.folder / "file").write_text(content)
        output = self.run(f"cat {self.folder / 'file'} > {name}")
        assert self.code == 0, output

    def close(self) -> None:
        """With all processes that were started in the background."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
