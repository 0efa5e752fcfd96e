"""Texts of scripts and members do not control the terminal of the person who reads them."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from belvedere.cli.framework import rendering
from belvedere.cli.framework.terminal_text import Filter, clean
from fake_server import CannedResponse, FakeServer

JOB = "65a0000000000000000000b1"
HOSTILE = (
    "plain\t\x1b[1;31mred\x1b[0m\n"
    "title \x1b]0;owned\x07link \x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\\n"
    "clipboard \x1b]52;c;ZXZpbA==\x07clear \x1b[2J\x1b[Hask \x1b[6n\x1bc\x1b(0end\n"
    'device \x1bP$q"p\x1b\\8bit \x9b2J\x9d0;owned\x9cdel\x7f bell\x07 back\x08\n'
)
SAFE = (
    "plain\t\x1b[1;31mred\x1b[0m\ntitle link text\nclipboard clear ask end\n"
    "device 8bit 2J0;owneddel bell back\n"
)


def on_terminal(server: FakeServer, home: Path, *words: str, **env: str) -> tuple[str, str]:
    """What arrives at the terminal on standard output, and what on standard error."""
    main, sub = pty.openpty()
    body = {**os.environ, "BELVEDERE_SERVER": server.url, "BELVEDERE_TOKEN": "t", **env}
    if "NO_COLOR" not in env:
        body.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "belvedere.cli.main", *words]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=sub, stderr=subprocess.PIPE, env=body
    ) as process:
        os.close(sub)
        data = bytearray()
        try:
            while piece := os.read(main, 65_536):
                data += piece
        except OSError:
            # The other end is closed.
            pass
        os.close(main)
        assert process.stderr is not None
        text = process.stderr.read().decode()
    return data.decode().replace("\r\n", "\n"), text


@pytest.fixture
def hostile(server: FakeServer, home: Path) -> FakeServer:
    log = CannedResponse(raw=[HOSTILE.encode()], media_type="text/plain")
    server.answers["GET", f"/job/{JOB}/log"] = [log] * 3
    return server


def test_a_log_on_a_terminal_keeps_only_its_colours(hostile: FakeServer, home: Path) -> None:
    out, _ = on_terminal(hostile, home, "job", "log", JOB)
    assert out == SAFE


def test_without_colour_nothing_is_left_but_text(hostile: FakeServer, home: Path) -> None:
    out, _ = on_terminal(hostile, home, "job", "log", JOB, NO_COLOR="1")
    assert "\x1b" not in out and "red" in out


def test_a_log_in_a_pipe_is_unchanged(hostile: FakeServer, home: Path) -> None:
    env = {**os.environ, "BELVEDERE_SERVER": hostile.url, "BELVEDERE_TOKEN": "t"}
    words = [sys.executable, "-m", "belvedere.cli.main", "job", "log", JOB]
    ran = subprocess.run(words, env=env, capture_output=True)
    assert ran.stdout == HOSTILE.encode()


def test_an_error_of_the_server_has_no_controls(server: FakeServer, home: Path) -> None:
    message = "gone \x1b]0;owned\x07\x1b[2J\x9b1A"
    refused = {"statusCode": 404, "code": "not_found", "message": message, "request_id": "r"}
    server.answers["GET", f"/job/{JOB}"] = [CannedResponse(refused, 404)]
    out, text = on_terminal(server, home, "job", "show", JOB)
    assert out == "" and "gone" in text
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_names_in_tables_have_no_controls(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b]0;x\x07b\nc\u202etxt.exe\u2066d\u2028e\x9b2J"
    rendering.table(("name",), [(name,)])
    out = capsys.readouterr().out
    assert all(letter.isprintable() for line in out.splitlines() for letter in line)
    assert len(out.splitlines()) == 2


def test_a_split_sequence_is_recognised_wherever_it_is_split() -> None:
    for cut in range(len(HOSTILE) + 1):
        actual_filter = Filter()
        assert actual_filter.feed(HOSTILE[:cut]) + actual_filter.feed(HOSTILE[cut:]) == SAFE
    single = Filter()
    assert "".join(map(single.feed, HOSTILE)) == SAFE


def test_an_unfinished_sequence_hides_one_line_and_takes_no_memory() -> None:
    actual_filter = Filter()
    assert actual_filter.feed("a\x1b]0;") == "a"
    for _ in range(1_000):
        assert actual_filter.feed("x" * 1_000) == ""
    assert len(actual_filter._pending) <= 1
    assert actual_filter.feed("\nnext") == "\nnext"
    actual_filter = Filter()
    assert (
        len(actual_filter.feed("\x1b[" + "1;" * 100_000)) <= 200_000
        and len(actual_filter._pending) <= 80
    )


def test_a_colour_does_not_outlive_the_output() -> None:
    actual_filter = Filter()
    actual_filter.feed("\x1b[31mred")
    assert actual_filter.finish() == "\x1b[0m"
    actual_filter.feed("\x1b[0m")
    assert actual_filter.finish() == ""


def test_a_carriage_return_cannot_overwrite_a_line() -> None:
    assert clean("one\rtwo\r\nthree") == "one\ntwo\nthree"
    assert json.dumps(clean("\x1b[31mx\x1b[0m")) == '"x"'
