"""The commands of a how-to page, in order, with the output that the page shows.

Three kinds of code blocks are executed, in the order of the page:

    ```console      commands behind `$ `, each followed by the output that it must have
    ```sh           commands without output; each block must succeed
    ```json file=release.json     the content of a file, in any language

Comments of the page belong to the execution and are not displayed:

    <!-- setup            shell commands that prepare the environment, up to `-->`: nothing that a
                          reader has to do (tests/docs/test_howto_marks.py)
    <!-- input: TEXT -->  what the reader types at the prompts of the next command
                          (`{code}`: of a second factor)
    <!-- starts a server -->  the page needs no server, it starts its own
    <!-- own machine -->  the page is executed as root of a machine without a server
                          (tests/e2e/howto_machine.py)
    <!-- background -->   the next block keeps running; the page goes on when it is ready
    <!-- any order -->    the lines of the next output come in any order
    <!-- not run: WHY --> the next block is displayed only; WHY names a test that does the same

Any other language (`nginx`, `http`, `text`) is displayed only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?: file=(?P<file>\S+))?$")
WORDS = "setup|input|starts a server|own machine|background|any order|not run"
COMMENT = re.compile(rf"^ *<!-- (?P<word>{WORDS})(?:: (?P<text>.*))?(?: -->)?$")
HEREDOC = re.compile(r"<<'?(\w+)'?")


@dataclass
class Step:
    """One command, or one file, of a page. `output` is None where the page shows none; the lines
    from `first` up to `last` are that output in the page."""

    text: str
    file: str = ""
    typed: str = ""
    output: list[str] | None = None
    is_ordered: bool = True
    is_background: bool = False
    first: int = 0
    last: int = 0
    indent: str = ""


@dataclass
class Page:
    path: Path
    lines: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    setups: list[str] = field(default_factory=list)
    unmarked: list[int] = field(default_factory=list)
    displayed_only: list[str] = field(default_factory=list)
    starts_server: bool = False
    has_own_machine: bool = False

    @classmethod
    def read(cls, path: Path) -> "Page":
        page = cls(path, path.read_text().split("\n"))
        _Reader(page).read()
        return page

    def replace_outputs(self, outputs: list[tuple[Step, list[str]]]) -> None:
        """Write these outputs into the page, from the last to the first, so that line numbers of
        the others stay valid."""
        for step, lines in sorted(outputs, key=lambda pair: -pair[0].first):
            self.lines[step.first : step.last] = [f"{step.indent}{line}".rstrip() for line in lines]
        self.path.write_text("\n".join(self.lines))


class _Reader:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.position = 0
        self.typed = ""
        self.is_ordered = True
        self.is_displayed_only = False
        self.is_background = False

    def read(self) -> None:
        while self.position < len(self.page.lines):
            line = self.page.lines[self.position]
            if (comment := COMMENT.match(line)) is not None:
                self._comment(comment)
            elif (fence := FENCE.match(line)) is not None:
                self._block(fence)
            else:
                self.position += 1

    def _comment(self, comment: re.Match[str]) -> None:
        text = (comment["text"] or "").removesuffix(" -->")
        if comment["word"] == "setup":
            commands = "\n".join(self._until("-->"))
            self.page.setups.append(commands)
            self.page.steps.append(Step(commands))
            return
        if comment["word"] == "input":
            self.typed = text.replace("\\n", "\n") + "\n"
        self.page.starts_server |= comment["word"] == "starts a server"
        self.page.has_own_machine |= comment["word"] == "own machine"
        self.is_ordered = comment["word"] != "any order"
        self.is_background = comment["word"] == "background"
        self.is_displayed_only = comment["word"] == "not run"
        if self.is_displayed_only:
            self.page.displayed_only.append(text)
        self.position += 1

    def _until(self, end: str) -> list[str]:
        """The lines between here and this line, without the indentation of the first."""
        first = self.position + 1
        indent = len(self.page.lines[self.position]) - len(self.page.lines[self.position].lstrip())
        while self.page.lines[self.position + 1].strip() != end:
            self.position += 1
        self.position += 2
        return [line[indent:] for line in self.page.lines[first : self.position - 1]]

    def _block(self, fence: re.Match[str]) -> None:
        first = self.position + 1
        body = self._until("```")
        if self.is_displayed_only:
            self.is_displayed_only = False
        elif fence["file"]:
            self.page.steps.append(Step("\n".join(body) + "\n", file=fence["file"]))
        elif fence["language"] == "sh":
            step = Step("\n".join(body), typed=self._take_typed(), is_background=self.is_background)
            self.page.steps.append(step)
            self.is_background = False
        elif fence["language"] == "console":
            self.page.steps.extend(self._commands(body, first, fence["indent"]))
            self.is_ordered = True
        elif not fence["language"]:
            self.page.unmarked.append(first)

    def _take_typed(self) -> str:
        typed, self.typed = self.typed, ""
        return typed

    def _commands(self, body: list[str], first: int, indent: str) -> Iterator[Step]:
        position = 0
        while position < len(body):
            end = _end_of_command(body, position)
            after = next(
                (at for at in range(end, len(body)) if body[at].startswith("$ ")), len(body)
            )
            yield Step(
                "\n".join([body[position].removeprefix("$ "), *body[position + 1 : end]]),
                typed=self._take_typed(),
                output=body[end:after],
                is_ordered=self.is_ordered,
                first=first + end,
                last=first + after,
                indent=indent,
            )
            position = after


def _end_of_command(body: list[str], position: int) -> int:
    """A command goes on after a backslash or a pipe, and up to the end of its here-document."""
    heredoc = HEREDOC.search(body[position])
    if heredoc is not None:
        return body.index(heredoc[1], position) + 1
    while body[position].endswith(("\\", "|")):
        position += 1
    return position + 1
