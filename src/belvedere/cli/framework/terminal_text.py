"""Text from other people on the user's terminal: text and colours pass, control sequences do not.

Scripts choose their output and members choose names. A terminal reads commands from the same
stream: set the title or the clipboard, report its state, move the cursor over earlier output. Only
colours (SGR), newlines and tabs pass; everything else is dropped.
"""

import io
import os
import re
import sys
from codecs import getincrementaldecoder
from typing import TextIO

SGR = r"\x1b\[[0-9;:]{0,64}m"
# Strings that a terminal interprets as a command: OSC, DCS, SOS, PM, APC. A newline ends them here,
# so that none can hide the lines after it.
STRING = r"\x1b[PX^_\]][^\x07\x1b\x9c\n]*"
PARTS = re.compile(
    rf"(?P<colour>{SGR})"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"
    rf"|{STRING}(?:\x07|\x9c|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<line>\r\n?)"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# The start of a sequence that may continue in the next piece.
INCOMPLETE = re.compile(r"(?:\x1b(?:\[[0-?]{0,64})?[ -/]{0,8}|\r)\Z")
INCOMPLETE_STRING = re.compile(rf"{STRING}\x1b?\Z")
STRING_END = re.compile(r"\x07|\x9c|\x1b\\|(?=[\n\x1b])")
RESET = "\x1b[0m"
# To the first column of the first line, then erase the screen.
CLEAR = "\x1b[H\x1b[2J"


class Filter:
    """Filters a stream piece by piece, in constant memory."""

    def __init__(self, *, colours: bool = True) -> None:
        self._colours = colours
        self._pending = ""
        self._in_string = False
        self._is_coloured = False

    def feed(self, piece: str) -> str:
        text, self._pending = self._pending + piece, ""
        if self._in_string:
            text = self._after_string(text)
        if string := INCOMPLETE_STRING.search(text):
            # Only the last character matters: the end may be split, too.
            self._in_string = True
            self._pending = "\x1b" if text.endswith("\x1b") else ""
            text = text[: string.start()]
        elif not self._in_string and (incomplete := INCOMPLETE.search(text)):
            text, self._pending = text[: incomplete.start()], incomplete[0]
        return PARTS.sub(self._replace, text)

    def _after_string(self, text: str) -> str:
        end = STRING_END.search(text)
        if end is None:
            return ""
        if text[end.start() :] == "\x1b":
            self._pending = "\x1b"
            return ""
        self._in_string = False
        return text[end.end() :]

    def _replace(self, part: "re.Match[str]") -> str:
        if part["line"]:
            return "\n"
        if part["colour"] and self._colours:
            self._is_coloured = part[0] not in (RESET, "\x1b[m")
            return part[0]
        return ""

    def finish(self) -> str:
        """The end of the stream: reset the colour of the terminal."""
        self._pending = ""
        return RESET if self._is_coloured else ""


def clean(text: str) -> str:
    """A whole text, without colours."""
    return Filter(colours=False).feed(text + "\n")[:-1]


class Terminal(io.TextIOBase):
    """Standard output or error of a person."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._filter = Filter(colours="NO_COLOR" not in os.environ)
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def write(self, text: str) -> int:
        self._stream.write(self._filter.feed(text))
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        self.write(self._decoder.decode(data))

    def clear(self) -> None:
        self._stream.write(CLEAR)

    def flush(self) -> None:
        self._stream.flush()

    def end(self) -> None:
        self._stream.write(self._filter.finish())
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def protected(stream: TextIO) -> TextIO:
    """The same stream, filtered if it is a terminal; a file or a pipe gets every byte."""
    if isinstance(stream, Terminal) or not stream.isatty():
        return stream
    return Terminal(stream)  # type: ignore[return-value]


def write_bytes(data: bytes) -> None:
    """Write to standard output: byte for byte, unless it is a terminal."""
    out = sys.stdout
    if isinstance(out, Terminal):
        out.write_bytes(data)
    else:
        out.buffer.write(data)
