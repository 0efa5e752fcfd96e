"""The entry point: versions, help, unknown commands, and errors in one line."""

import shlex
import subprocess
import sys
from types import ModuleType

import pytest

import cli_records
from belvedere import __version__
from belvedere.base.errors import Conflict, Fault
from belvedere.cli import completion, main
from belvedere.cli.framework import command, dispatch
from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer

PAGES = {page.path.removeprefix("belvedere "): page for page in completion.pages()}


def test_a_command_prints_the_response(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/host", [cli_records.host()])
    ran = belvedere("host", "list")
    assert ran.status == 0
    assert "web-1" in ran.out
    assert server.asked[0].headers["Authorization"] == "Bearer bvt_secret"


def test_a_list_is_shown_again_until_it_is_interrupted(
    belvedere: Belvedere, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET", "/host", [cli_records.host()])
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(dispatch, "wait", wait)
    ran = belvedere("host", "list", "--watch")
    assert (ran.status, ran.out.count("web-1"), len(server.asked)) == (130, 3, 3)


def test_every_list_can_be_watched() -> None:
    """Except a list that also downloads, and one that is read from a file without a server."""
    lists = [path for path in PAGES if (PAGES[path].parser.description or "").startswith("List ")]
    assert {"task list", "job list", "audit", "workflow steps", "notify inbox"} <= set(lists)
    unwatched = [path for path in lists if "--watch" not in PAGES[path].parser.format_help()]
    assert unwatched == ["job files", "key show", "key check"]


def test_the_version_is_printed(anonymous: Belvedere) -> None:
    assert anonymous("--version").out == f"belvedere {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_the_help_lists_all_commands(anonymous: Belvedere, words: list[str]) -> None:
    ran = anonymous(*words)
    assert ran.status == 0
    assert all(f"  {noun.name} " in ran.out for noun in main.COMMAND_GROUPS)


def test_without_a_word_it_explains_itself_as_wrong_usage(anonymous: Belvedere) -> None:
    assert anonymous().status == 2
    assert anonymous("task").status == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tsk"], "belvedere: unknown command 'tsk'; did you mean task?\n"),
        (["task", "lst"], "belvedere: unknown task command 'lst'; did you mean list?\n"),
        (["task", "show"], "the following arguments are required: TASK"),
        (["run"], "the following arguments are required: TASK (see"),
        (["job", "list", "--limit", "x"], "argument --limit: must be an integer, not 'x'"),
        (["task", "list", "--colour"], "unrecognized arguments: --colour"),
        (["job", "resolve", cli_records.JOB_ID, "maybe"], "invalid choice: 'maybe'"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    anonymous: Belvedere, words: list[str], told: str
) -> None:
    ran = anonymous(*words)
    assert ran.status == 2
    assert told in ran.err
    assert ran.err.startswith("belvedere: ") and ran.err.count("\n") == 1


@pytest.mark.parametrize("path", PAGES)
def test_every_command_explains_itself_with_an_example(anonymous: Belvedere, path: str) -> None:
    ran = anonymous(*path.split(), "--help")
    assert ran.status == 0
    assert f"usage: belvedere {path}" in ran.out
    assert "example:\n  " in ran.out


@pytest.mark.parametrize("path", PAGES)
def test_every_example_can_be_called(path: str) -> None:
    words = shlex.split(PAGES[path].example)
    if words[0] == "eval":
        words = shlex.split(words[1].removeprefix("$(").removesuffix(")"))
    depth = len(path.split()) + 1
    assert words[:depth] == ["belvedere", *path.split()]
    assert command.parse(PAGES[path].parser, words[depth:])


def test_only_the_command_that_is_called_is_imported() -> None:
    """The agent and similar programs stay small: no HTTP client, no tables, no server."""
    code = (
        "import sys; from belvedere.cli.main import main; main(['--version']); "
        "print([name for name in ('argparse', 'rich', 'http.client', 'msgspec', 'starlette')"
        " if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_refusal_is_one_line_with_the_fields_at_fault(
    belvedere: Belvedere, server: FakeServer
) -> None:
    body = {
        "code": "missing_arguments",
        "message": "An argument is missing.",
        "errors": [{"field": "task_arguments[0]", "message": "is required"}],
    }
    server.on("GET", "/host", CannedResponse(body, 400))
    ran = belvedere("host", "list")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "belvedere: An argument is missing.\n  task_arguments[0]: is required\n"


def test_an_ended_session_says_how_to_continue(belvedere: Belvedere, server: FakeServer) -> None:
    server.on(
        "GET", "/host", CannedResponse({"code": "unauthenticated", "message": "Expired."}, 401)
    )
    assert "belvedere login" in belvedere("host", "list").err


def test_a_server_that_is_down_is_reported_plainly(
    anonymous: Belvedere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELVEDERE_TOKEN", "bvt_x")
    ran = anonymous("task", "list", "--server", "http://127.0.0.1:1")
    assert ran.status == 1
    assert "Cannot reach http://127.0.0.1:1 (Connection refused)" in ran.err


def test_the_error_without_sign_in_explains_how_to_sign_in(anonymous: Belvedere) -> None:
    ran = anonymous("task", "list")
    assert ran.status == 1
    assert "belvedere login" in ran.err


def test_json_output_is_the_response_of_the_server(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("GET", "/host", [cli_records.host(unheard_of="grün")])
    ran = belvedere("host", "list", "--json")
    assert '"unheard_of": "grün"' in ran.out


def test_an_interrupt_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    assert dispatch.run_guarded(interrupt) == 130
    assert capsys.readouterr().err == "belvedere: interrupted\n"


def test_a_refusal_of_our_own_code_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> int:
        raise Conflict("Taken.", faults=(Fault("name", "is taken"),))

    assert dispatch.run_guarded(refuse) == 1
    assert capsys.readouterr().err == "belvedere: Taken.\n  name: is taken\n"


def test_a_missing_library_says_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    def lack_module() -> int:
        raise ModuleNotFoundError("No module named 'apsw'", name="apsw")

    assert dispatch.run_guarded(lack_module) == 1
    err = capsys.readouterr().err
    assert err.startswith("belvedere: apsw is not installed; ")
    assert "from its repository or wheel" in err


def test_an_error_of_the_system_is_one_line(anonymous: Belvedere) -> None:
    ran = anonymous("up", "--data", "/proc/nowhere", "--port", "0")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "belvedere: /proc/nowhere: No such file or directory\n"


def test_a_certificate_that_cannot_be_read_is_named(anonymous: Belvedere) -> None:
    ran = anonymous("up", "--tls-cert", "/nowhere/x.pem", "--tls-key", "/nowhere/x.key")
    assert ran.err == "belvedere: --tls-cert: cannot read /nowhere/x.pem.\n"


def test_a_reader_that_disconnects_is_no_error() -> None:
    code = (
        "import sys; from belvedere.cli.framework import dispatch\n"
        "def flood():\n  print('x' * 1_000_000); return 0\n"
        "sys.exit(dispatch.run_guarded(flood))"
    )
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} | head -c 1 >/dev/null"
    ran = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("141\n", "")


def test_a_module_with_its_own_parser_is_registered_and_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = ModuleType("bench")
    module.register = lambda item: item.add_argument("--jobs", type=int)  # type: ignore[attr-defined]
    module.run = lambda args: args.jobs  # type: ignore[attr-defined]
    assert dispatch.perform("bench", module, ["--jobs", "7"]) == 7
