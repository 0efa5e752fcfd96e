"""Completion in real shells: Tab completes a name, and Enter runs the command with it."""

import json
import os
import pty
import select
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from belvedere.cli import completion
from belvedere.cli.framework.command import Args

PROMPT = "READY> "
# Each kind has different names, so that a list of the wrong kind is noticed.
NAMES = {
    "task": ("nightly backup", "it's weekly"),
    "host": ("web-1", "db-1"),
    "monitor": ("Checkout page", "Disk of db-1"),
}
# How each shell starts without a person's configuration, and its Debian package.
SHELLS = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i", "-C", f"function fish_prompt; echo -n '{PROMPT}'; end"),
}
# It prints the names, or writes the arguments of the command that was entered.
PROGRAM = """\
#!{python}
import json, sys
if sys.argv[1:3] == ["completion", "--names"]:
    print("\\n".join({names!r}[sys.argv[3]]))
else:
    open({calls!r}, "a").write(json.dumps(sys.argv[1:]) + "\\n")
"""
LIMIT_S = 20


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        path = f"{folder}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(folder), "TERM": "xterm", "PS1": PROMPT}
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        self.output = ""

    def send(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def wait_for(self, text: str) -> None:
        """Wait until the shell has printed this since the last call."""
        while text not in self.output:
            ready, _, _ = select.select([self.descriptor], [], [], LIMIT_S)
            assert ready, f"{text!r} is not in {self.output!r}"
            self.output += os.read(self.descriptor, 65_536).decode(errors="replace")
        self.output = self.output.partition(text)[2]

    def close(self) -> None:
        os.close(self.descriptor)
        os.waitpid(self.pid, 0)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    assert shutil.which(name), f"The tests of completion need {name}: apt install {name}"
    return name


@pytest.fixture
def terminal(shell: str, tmp_path: Path) -> Iterator[Terminal]:
    program = tmp_path / "belvedere"
    calls = str(tmp_path / "calls")
    program.write_text(PROGRAM.format(python=sys.executable, names=NAMES, calls=calls))
    program.chmod(0o755)
    script = tmp_path / "completion-script"
    script.write_text(completion.script(Args(shell=shell, names=None)) + "\n")
    new_terminal = Terminal(SHELLS[shell], tmp_path)
    new_terminal.wait_for(PROMPT)
    new_terminal.send(f"source {script}\r")
    new_terminal.wait_for(PROMPT)
    yield new_terminal
    new_terminal.close()


@pytest.mark.parametrize(
    ("command", "prefix", "name"),
    [
        ("task show", "nig", "nightly backup"),
        ("task run", "it", "it's weekly"),
        ("host show", "d", "db-1"),
        ("monitor show", "Che", "Checkout page"),
    ],
)
def test_a_name_is_completed_and_quoted(
    terminal: Terminal, tmp_path: Path, command: str, prefix: str, name: str
) -> None:
    terminal.send(f"belvedere {command} {prefix}\t")
    terminal.wait_for(name[-3:])
    terminal.send("\r")
    terminal.wait_for(PROMPT)
    assert json.loads((tmp_path / "calls").read_text()) == [*command.split(), name]


def test_commands_are_completed(terminal: Terminal, tmp_path: Path) -> None:
    terminal.send("belvedere workf\t")
    terminal.wait_for("low")
    terminal.send("canc\t")
    terminal.wait_for("el")
    terminal.send("\r")
    terminal.wait_for(PROMPT)
    assert json.loads((tmp_path / "calls").read_text()) == ["workflow", "cancel"]
