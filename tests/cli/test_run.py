"""Running a task: finding it, following it, and exiting with its status."""

import json
from typing import Any

import pytest

import cli_records
from belvedere.cli.jobs import follow
from belvedere.client import event_stream
from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer, stream

JOB, LOG = f"/job/{cli_records.JOB_ID}", f"/job/{cli_records.JOB_ID}/log"


def output(text: str, after: int) -> tuple[str, str, str]:
    return "output", json.dumps(text), str(after)


END = ("end", "{}", "99")


@pytest.fixture(autouse=True)
def no_retry_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconnecting after an interruption does not wait."""
    monkeypatch.setattr(event_stream, "FIRST_RETRY_WAIT_S", 0)


@pytest.fixture(autouse=True)
def answers(server: FakeServer) -> None:
    server.on("GET", "/task", [cli_records.task()])
    server.on("POST", "/job", cli_records.job())
    server.on("GET", JOB, cli_records.finished_job("normal"))
    server.on("GET", LOG, stream(output("hello\n", 6), END))


@pytest.mark.parametrize("words", [("run",), ("task", "run")])
def test_a_task_runs_and_its_output_is_followed(
    belvedere: Belvedere, server: FakeServer, words: tuple[str, ...]
) -> None:
    ran = belvedere(*words, "deploy", "blue", "--follow")
    assert (ran.status, ran.out) == (0, "hello\n")
    assert f"job {cli_records.JOB_ID} ended: normal, after 1.5 s" in ran.err
    body = {"task": cli_records.TASK_ID, "task_arguments": ["blue"]}
    assert server.bodies("POST", "/job") == [body]
    assert server.asked[0].query == {"where[name]": "deploy"}


def test_without_follow_it_says_how_to_watch(belvedere: Belvedere) -> None:
    ran = belvedere("run", "deploy", "blue")
    assert ran.status == 0
    assert f"belvedere job log {cli_records.JOB_ID} --follow" in ran.out


def test_a_job_that_is_over_at_once_says_so(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", "/job", cli_records.job(lifecycle="finished", state="success"))
    ran = belvedere("run", "deploy", "blue")
    assert (ran.status, ran.out) == (0, "")
    assert "ended: success" in ran.err


def test_a_task_can_be_named_by_its_id(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", f"/task/{cli_records.TASK_ID}", cli_records.task())
    assert belvedere("run", cli_records.TASK_ID).status == 0


def test_a_run_is_assigned_to_members(belvedere: Belvedere, server: FakeServer) -> None:
    belvedere("run", "deploy", "blue", "--assignee", "max", "--assignee", "ada")
    (call,) = [item for item in server.asked if item.method == "POST"]
    assert call.body["assignee"] == ["max", "ada"]


def test_each_run_has_a_key_of_its_own(belvedere: Belvedere, server: FakeServer) -> None:
    belvedere("run", "deploy")
    belvedere("run", "deploy")
    keys = {item.headers["Idempotency-Key"] for item in server.asked if item.method == "POST"}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["--host", "web-1", "deploy", "a", "--wait", "b"], ["a", "b"]),
        (["deploy", "--", "--follow", "--", "-x"], ["--follow", "--", "-x"]),
        (["deploy", "", "-5", "zwei wörter"], ["", "-5", "zwei wörter"]),
    ],
)
def test_arguments_arrive_as_they_were_written(
    belvedere: Belvedere, server: FakeServer, words: list[str], arguments: list[str]
) -> None:
    assert belvedere("run", *words).status == 0
    assert server.bodies("POST", "/job")[0]["task_arguments"] == arguments


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (cli_records.finished_job("normal"), 0),
        (cli_records.finished_job("success"), 0),
        (cli_records.finished_job("failure", 3), 3),
        (cli_records.finished_job("failure", 0), 1),
        (cli_records.finished_job("failure", 137), 137),
        (cli_records.finished_job("failure", 256), 1),
        (cli_records.job(lifecycle="finished", state="failure"), 1),
        (cli_records.job(lifecycle="terminated", state="timeout"), 124),
        (cli_records.job(lifecycle="canceled", state="canceled"), 130),
        (cli_records.job(lifecycle="expired", state="canceled"), 130),
        (cli_records.job(lifecycle="terminated", state="lost"), 125),
        (cli_records.job(lifecycle="finished", state="error"), 125),
    ],
)
@pytest.mark.parametrize("how", ["--follow", "--wait"])
def test_the_exit_status_is_the_jobs(
    belvedere: Belvedere, server: FakeServer, ended: Any, status: int, how: str
) -> None:
    server.on("GET", JOB, ended)
    assert belvedere("run", "deploy", how).status == status


def test_waiting_shows_no_output(belvedere: Belvedere) -> None:
    assert belvedere("run", "deploy", "--wait").out == ""


def test_json_gives_the_job_on_stdout_and_its_output_on_stderr(belvedere: Belvedere) -> None:
    ran = belvedere("run", "deploy", "--follow", "--json")
    assert json.loads(ran.out)["state"] == "normal"
    assert "hello\n" in ran.err


def test_no_line_is_lost_when_the_connection_is_cut(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on(
        "GET",
        LOG,
        stream(output("one\n", 4), end=b"id: 8\nevent: output\ndata: "),
        CannedResponse(silent=True),
        stream(output("two\n", 8), output("dr", 10)),
        stream(output("ei\n", 13), END),
    )
    ran = belvedere("run", "deploy", "--follow")
    assert (ran.status, ran.out) == (0, "one\ntwo\ndrei\n")
    resumed = [item.headers.get("Last-Event-ID") for item in server.asked if item.path == LOG]
    assert resumed == [None, "4", "4", "10"]
    # Two outages, the first with two failed returns.
    assert ran.err.count("Reconnecting") == 2


def test_a_server_that_restarts_at_the_end_is_waited_for(
    belvedere: Belvedere, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "RETRY_WAITS_S", (0, 0, 0))
    away = CannedResponse({"code": "unavailable", "message": "Starting."}, 503)
    server.on(
        "GET",
        JOB,
        cli_records.job(),
        away,
        CannedResponse(silent=True),
        cli_records.finished_job("failure", 7),
    )
    assert belvedere("run", "deploy", "--follow").status == 7


def test_a_shared_name_lists_the_hosts(belvedere: Belvedere, server: FakeServer) -> None:
    two = [cli_records.task(), cli_records.task(id="65a0000000000000000000a2", hostname="web-2")]
    server.on("GET", "/task", two)
    ran = belvedere("run", "deploy")
    assert ran.status == 2
    text = "belvedere: 2 tasks are named 'deploy'; choose one with --host: web-1, web-2\n"
    assert ran.err == text
    assert belvedere("run", "deploy", "--host", "web-2").status == 0
    assert server.bodies("POST", "/job")[0]["task"] == "65a0000000000000000000a2"


def test_a_name_shared_on_one_host_lists_the_ids(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/task", [cli_records.task(), cli_records.task(id="65a0000000000000000000a2")])
    ran = belvedere("run", "deploy")
    assert ran.status == 2
    assert "65a0000000000000000000a2 on web-1" in ran.err


def test_a_host_without_the_task_is_reported(belvedere: Belvedere) -> None:
    ran = belvedere("run", "deploy", "--host", "db-1")
    assert ran.status == 1
    assert "no task 'deploy' on db-1, only on web-1" in ran.err


def test_a_wrong_name_suggests_the_right_one(belvedere: Belvedere, server: FakeServer) -> None:
    server.on(
        "GET", "/task", lambda item: CannedResponse([] if item.query else [cli_records.task()])
    )
    ran = belvedere("run", "deplyo")
    assert (ran.status, ran.err) == (
        1,
        "belvedere: There is no task 'deplyo'. Did you mean 'deploy'?\n",
    )


def test_ctrl_c_leaves_the_job_running_and_says_how_to_cancel_it(
    belvedere: Belvedere, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(follow, "_stream", interrupt)
    ran = belvedere("run", "deploy", "--follow")
    assert ran.status == 130
    assert f"belvedere job cancel {cli_records.JOB_ID}" in ran.err
    assert all("cancel" not in item.path for item in server.asked)


def test_a_waiting_job_shows_its_reason(belvedere: Belvedere, server: FakeServer) -> None:
    detail = {"hostname": "web-1", "since": "2026-03-01T10:00:00.000Z"}
    waiting = cli_records.job(waiting_reason="host_offline", waiting_detail=detail)
    server.on("GET", JOB, waiting, cli_records.finished_job("normal"))
    ran = belvedere("run", "deploy", "--wait")
    assert "is waiting: host web-1 has been offline since 2026-03-01 10:00:00 UTC" in ran.err


def test_a_job_waits_for_a_host_that_has_never_connected(
    belvedere: Belvedere, server: FakeServer
) -> None:
    detail = {"hostname": "web-1", "since": None}
    job = cli_records.job(waiting_reason="host_offline", waiting_detail=detail)
    server.on("GET", JOB, job, cli_records.finished_job("normal"))
    assert "is waiting: host web-1 has never connected" in belvedere("run", "deploy", "--wait").err
