"""The command line against a real `belvedere up`: processes, sockets and scripts between them."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

from belvedere.client.event_stream import follow
from belvedere.client.http_client import Client
from e2e import process_leaks

pytestmark = pytest.mark.heavy
BELVEDERE = (sys.executable, "-m", "belvedere.cli.main")
PASSWORD = "correct horse battery"
Up = subprocess.Popen[str]
Ran = subprocess.CompletedProcess[str]


@dataclass
class Installation:
    """A running installation, and a signed-in user."""

    data: Path
    env: dict[str, str]
    url: str = ""
    up: Up | None = None
    hostname: str = field(default="")

    def start(self, *more: str) -> None:
        """On the same port each time, so that clients that follow find it again."""
        port = self.url.rpartition(":")[2] or "0"
        words = ("up", "--data", str(self.data / "data"), "--port", port, *more)
        env = {**self.env, "BELVEDERE_ADMIN_PASSWORD": PASSWORD}
        self.up = subprocess.Popen([*BELVEDERE, *words], env=env, stdout=subprocess.PIPE, text=True)
        match = re.search(r"ready at (\S+)", stream(self.up).readline())
        assert match is not None
        self.url = match[1]

    def stop(self) -> None:
        assert self.up is not None
        self.up.send_signal(signal.SIGINT)
        assert self.up.wait(20) == 0
        stream(self.up).close()

    def wait_for_demo(self) -> None:
        """The sample tasks are created when the local agent has connected."""
        record = json.loads((self.data / "config" / "belvedere" / "config.json").read_text())
        with Client(self.url, record["token"], record["customer"]) as client:
            events = follow(client, "/-/events", after="0.0")
            assert next(event for event in events if event.kind == "task.created")

    def run(self, *words: str, stdin: str = "") -> Ran:
        return subprocess.run(
            [*BELVEDERE, *words], env=self.env, input=stdin, capture_output=True, text=True
        )

    def begin(self, *words: str) -> Up:
        """A command whose output is read while it runs."""
        return subprocess.Popen(
            [*BELVEDERE, *words],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines_in_terminal(self, columns: int, *words: str) -> list[str]:
        """The output on a terminal of this width, without its colours."""
        controller, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (24, columns))
        # These would have precedence over the size of the terminal.
        env = {**self.env, "TERM": "xterm", "COLUMNS": "", "LINES": ""}
        command = [*BELVEDERE, *words]
        subprocess.run(command, env=env, check=True, stdin=terminal, stdout=terminal)
        os.close(terminal)
        output = os.read(controller, 65_536).decode()
        os.close(controller)
        return re.sub(r"\x1b\[[\d;]*m", "", output).splitlines()

    def json(self, *words: str) -> Any:
        ran = self.run(*words, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def task(self, name: str, script: str, *words: str) -> Any:
        """A task on the local host with this script."""
        path = self.data / f"{name}.sh"
        path.write_text(script)
        where = ("--host", self.hostname, "--script", str(path))
        return self.json("task", "create", name, *where, *words)


def stream(up: Up) -> IO[str]:
    assert up.stdout is not None
    return up.stdout


def end(running: Up) -> tuple[int, str, str]:
    """Status, the rest of its output, the rest of its notes."""
    assert running.stderr is not None
    with stream(running) as out, running.stderr as err:
        rest = out.read(), err.read()
    return running.wait(20), *rest


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    data = tmp_path_factory.mktemp("runtime")
    env = {name: value for name, value in os.environ.items() if not name.startswith("BELVEDERE_")}
    installation = Installation(data, {**env, "XDG_CONFIG_HOME": str(data / "config")})
    installation.start()
    try:
        words = ("login", "--server", installation.url, "--email", "admin@localhost")
        signed_in = installation.run(*words, stdin=f"{PASSWORD}\n")
        assert signed_in.returncode == 0, signed_in.stderr
        installation.wait_for_demo()
        installation.hostname = installation.json("host", "list")[0]["hostname"]
        yield installation
    finally:
        installation.stop()
        # A keeper waits a minute for its agent to return; no agent returns here.
        for pid in process_leaks.keepers(data / "data" / "agent"):
            os.kill(pid, signal.SIGTERM)
        process_leaks.check_gone(data)


def test_a_task_runs_and_its_output_is_followed(runtime: Installation) -> None:
    script = '#!/bin/sh\necho "hello $1"\necho aside >&2\nexit "$2"\n'
    runtime.task("hello", script, "--argument", "who", "--argument", "code")
    ran = runtime.run("run", "hello", "wörld; rm -rf $HOME", "3", "--follow")
    assert ran.returncode == 3
    assert sorted(ran.stdout.splitlines()) == ["aside", "hello wörld; rm -rf $HOME"]
    assert "ended: failure, exit code 3" in ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr


def test_arguments_that_look_like_options_reach_the_script(runtime: Installation) -> None:
    runtime.task("echo", '#!/bin/sh\nprintf "<%s>" "$@"\n', "--argument", "a", "--argument", "b")
    ran = runtime.run("run", "echo", "--follow", "--", "--wait", "-- ''")
    assert (ran.returncode, ran.stdout) == (0, "<--wait><-- ''>")


def test_a_file_argument_arrives_as_a_file(runtime: Installation) -> None:
    runtime.task("read", '#!/bin/sh\nbasename "$1"; cat "$1"\n', "--argument", "f:file")
    path = runtime.data / "größe.txt"
    path.write_text("inhalt\n")
    ran = runtime.run("run", "read", str(path), "--follow")
    assert ran.stdout.splitlines()[-1] == "inhalt"


def test_long_output_is_followed_byte_for_byte(runtime: Installation) -> None:
    runtime.task("flood", '#!/bin/sh\nyes "0123456789 äöü€" | head -n 60000\n')
    ran = runtime.run("run", "flood", "--follow")
    assert ran.returncode == 0
    assert ran.stdout == "0123456789 äöü€\n" * 60_000
    job_id = runtime.json("job", "list", "--limit", "1")[0]["id"]
    assert runtime.run("job", "log", job_id).stdout == ran.stdout


def test_output_is_shown_while_the_script_runs(runtime: Installation) -> None:
    gate = runtime.data / "gate"
    script = f'#!/bin/sh\necho first\nwhile [ ! -e "{gate}" ]; do sleep 0.05; done\necho last\n'
    runtime.task("wait", script)
    running = runtime.begin("run", "wait", "--follow")
    assert stream(running).readline() == "first\n"
    gate.touch()
    assert end(running)[:2] == (0, "last\n")


def test_no_line_is_lost_when_the_server_restarts(runtime: Installation) -> None:
    gate = runtime.data / "restarted"
    script = (
        "#!/bin/sh\nfor n in $(seq 1 200); do echo line $n; done\n"
        f'while [ ! -e "{gate}" ]; do echo waiting; sleep 0.2; done\n'
        "for n in $(seq 201 400); do echo line $n; done\nexit 5\n"
    )
    runtime.task("long", script)
    running = runtime.begin("run", "long", "--follow")
    texts = [stream(running).readline() for _ in range(150)]
    runtime.stop()
    runtime.start()
    gate.touch()
    status, rest, text = end(running)
    lines = [line for line in ("".join(texts) + rest).splitlines() if line != "waiting"]
    assert lines == [f"line {n}" for n in range(1, 401)]
    assert status == 5
    assert text.count("Reconnecting; no output is lost.") == 1


def test_ctrl_c_leaves_the_job_running(runtime: Installation) -> None:
    runtime.task("sleep", "#!/bin/sh\necho begun\nexec sleep 60\n")
    running = runtime.begin("run", "sleep", "--follow")
    assert stream(running).readline() == "begun\n"
    running.send_signal(signal.SIGINT)
    status, _, text = end(running)
    assert status == 130
    job = runtime.json("job", "list", "--task", "sleep")[0]
    assert f"belvedere job cancel {job['id']}" in text
    assert job["lifecycle"] == "assigned"
    watching = runtime.begin("job", "log", job["id"], "--follow")
    assert "being stopped" in runtime.run("job", "cancel", job["id"]).stdout
    assert end(watching)[0] == 130
    assert runtime.json("job", "show", job["id"])["state"] == "canceled"


def test_a_timeout_is_status_124(runtime: Installation) -> None:
    runtime.task("late", "#!/bin/sh\nexec sleep 60\n", "--timeout", "500ms")
    ran = runtime.run("run", "late", "--wait")
    assert (ran.returncode, ran.stdout) == (124, "")


def test_a_job_that_cannot_start_is_status_125(runtime: Installation) -> None:
    runtime.task("none", "x", "--runas", "/nowhere/interpreter %script%")
    assert runtime.run("run", "none", "--wait").returncode == 125


def test_a_disabled_host_is_reported_and_waited_for(runtime: Installation) -> None:
    runtime.task("patient", "#!/bin/sh\necho at last\n")
    runtime.run("host", "disable", runtime.hostname)
    running = runtime.begin("run", "patient", "--follow")
    assert running.stderr is not None
    assert "is disabled" in running.stderr.readline()
    assert "is enabled" in runtime.run("host", "enable", runtime.hostname).stdout
    assert end(running)[:2] == (0, "at last\n")


def test_an_approval_is_given_and_refused(runtime: Installation) -> None:
    runtime.json("task", "create", "may I", "--type", "approval", "--approver", "admin@localhost")
    job_id = runtime.json("run", "may I")["id"]
    assert "belvedere job approve" in runtime.run("job", "show", job_id).stdout
    assert runtime.run("job", "approve", job_id).returncode == 0
    assert runtime.run("job", "log", job_id, "--follow").returncode == 0
    again = runtime.run("job", "reject", job_id)
    assert (again.returncode, again.stdout) == (1, "")
    other = runtime.json("run", "may I")["id"]
    assert runtime.run("job", "reject", other).returncode == 0
    assert runtime.run("job", "log", other, "--follow").returncode == 1


def test_a_task_is_edited_without_touching_the_rest(runtime: Installation) -> None:
    runtime.task("edit", "#!/bin/sh\necho old\n", "--description", "kept")
    new = runtime.data / "new.sh"
    new.write_text("#!/bin/sh\necho new\n")
    assert runtime.run("task", "edit", "edit", "--script", str(new)).returncode == 0
    assert runtime.run("run", "edit", "--follow").stdout == "new\n"
    assert runtime.json("task", "show", "edit")["description"] == "kept"
    assert runtime.json("task", "timeout", "edit", "90s")["timeout"] == 90_000


@pytest.mark.parametrize("columns", [70, 110])
def test_a_list_fits_the_terminal_and_its_short_ids_are_accepted(
    runtime: Installation, columns: int
) -> None:
    name = f"a task with a name that needs more than {columns} columns together with the others"
    runtime.task(name, "#!/bin/sh\ntrue\n")
    job = runtime.json("task", "run", name, "--wait")
    title, first, *_ = runtime.lines_in_terminal(columns, "job", "list", "--limit", "3")
    assert title.startswith("ID ") and len(title) <= columns
    assert len(first) <= columns and "✓ Succeeded" in first
    short_id = first.split()[0]
    assert len(short_id) == 6
    assert runtime.json("job", "show", short_id)["id"] == job["id"]


def test_a_list_that_is_watched_shows_changes(runtime: Installation) -> None:
    watch = runtime.begin("task", "list", "--watch")
    assert stream(watch).readline().startswith("ID ")
    runtime.task("created-while-watching", "#!/bin/sh\ntrue\n")
    assert any("created-while-watching" in line for line in stream(watch))
    watch.send_signal(signal.SIGINT)
    assert end(watch)[0] == 130


def test_the_audit_and_the_names_for_completion_are_listed(runtime: Installation) -> None:
    task = runtime.task("audited", "#!/bin/sh\ntrue\n")
    entries = runtime.json("audit", "list", "--object", task["id"][-6:])
    assert [(entry["action"], entry["object_id"]) for entry in entries] == [
        ("task.create", task["id"])
    ]
    for kind, field_name in (("task", "name"), ("host", "hostname"), ("monitor", "name")):
        names = {record[field_name] for record in runtime.json(kind, "list")}
        assert names
        assert set(runtime.run("completion", "--names", kind).stdout.splitlines()) == names


def test_an_invited_person_may_run_tasks_of_the_acl(runtime: Installation) -> None:
    runtime.task("shared", "#!/bin/sh\necho for all\n")
    runtime.task("hidden", "#!/bin/sh\necho for admins\n")
    link = runtime.run("member", "invite", "uma@acme.example", "--level", "user").stdout
    uma = Installation(runtime.data, {**runtime.env, "XDG_CONFIG_HOME": str(runtime.data / "uma")})
    assert uma.run("login", "--link", stdin=f"{link}another long password\n").returncode == 0
    assert uma.json("task", "list") == []
    assert runtime.run("acl", "add", "shared", "uma@acme.example").returncode == 0
    assert [task["name"] for task in uma.json("task", "list")] == ["shared"]
    assert uma.run("run", "shared", "--follow").stdout == "for all\n"
    assert uma.run("run", "hidden").returncode == 1
    assert "admin" in uma.run("token", "create", "mine").stderr
    assert runtime.run("member", "remove", "uma@acme.example").returncode == 0
    assert "belvedere login" in uma.run("task", "list").stderr


def test_a_token_works_until_it_is_deleted(runtime: Installation) -> None:
    token = runtime.run("token", "create", "ci").stdout.strip()
    program = Installation(runtime.data, {**runtime.env, "BELVEDERE_TOKEN": token})
    assert program.run("task", "list").returncode == 0
    assert runtime.run("token", "delete", "ci").returncode == 0
    assert program.run("task", "list").returncode == 1


def test_the_operator_makes_organizations_with_and_without_a_server(runtime: Installation) -> None:
    data = ("--data", str(runtime.data / "data"))
    runtime.stop()
    runtime.start("--no-agent")
    process = runtime.run(
        "organization", "create", "globex", "--email", "eve@globex.example", *data
    )
    link = process.stdout.splitlines()[-1]
    eve = Installation(runtime.data, {**runtime.env, "XDG_CONFIG_HOME": str(runtime.data / "eve")})
    assert eve.run("login", "--link", stdin=f"{link}\na password of eve\n").returncode == 0
    assert eve.json("task", "list") == []
    actual_process = runtime.run(
        "organization", "create", "globex", "--email", "x@y.example", *data
    )
    assert (actual_process.returncode, actual_process.stdout) == (1, "")
    runtime.stop()
    process_record = runtime.run("member", "reset-password", "eve@globex.example", *data)
    runtime.start()
    assert process_record.returncode == 0, process_record.stderr
    words = ("login", "--server", runtime.url, "--email", "eve@globex.example")
    assert eve.run(*words, stdin=process_record.stdout).returncode == 0


def test_a_second_server_on_the_same_data_refuses_in_one_line(runtime: Installation) -> None:
    ran = runtime.run("up", "--data", str(runtime.data / "data"), "--port", "0")
    assert ran.returncode != 0
    assert ran.stderr.startswith("belvedere: ") and ran.stderr.count("\n") == 1


def test_logging_out_ends_the_session(runtime: Installation) -> None:
    other = Installation(
        runtime.data, {**runtime.env, "XDG_CONFIG_HOME": str(runtime.data / "other")}
    )
    words = ("login", "--server", runtime.url, "--email", "admin@localhost")
    assert other.run(*words, stdin=f"{PASSWORD}\n").returncode == 0
    record = json.loads((runtime.data / "other" / "belvedere" / "config.json").read_text())
    assert other.run("logout").returncode == 0
    ended = Installation(runtime.data, {**other.env, "BELVEDERE_TOKEN": record["token"]})
    assert "belvedere login" in ended.run("whoami").stderr
