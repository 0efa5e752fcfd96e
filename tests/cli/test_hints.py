"""What commands say about the next step fits what the user has entered."""

import shlex

import pytest

import cli_records
from cli.conftest import Belvedere
from fake_server import FakeServer


@pytest.mark.parametrize(
    ("words", "path", "next_step"),
    [
        ("monitor list --state nosuch", "/monitor", "belvedere monitor create"),
        ("host list --tag nosuch", "/host", "belvedere enrolment create"),
        ("job list --state nosuch", "/job", "belvedere run"),
    ],
)
def test_a_filter_that_nothing_matches_is_no_empty_installation(
    belvedere: Belvedere, server: FakeServer, words: str, path: str, next_step: str
) -> None:
    server.on("GET", path, [])
    server.on("GET", "/job/removed", {"count": 0, "last_date": None})
    ran = belvedere(*words.split())
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "belvedere: Nothing matches these options.\n"
    assert next_step in belvedere(*words.split()[:2]).err


def test_a_suggested_command_can_be_pasted(belvedere: Belvedere, server: FakeServer) -> None:
    name = "a/b c?%"
    server.on("POST", "/webhook", cli_records.webhook(name=name))
    suggested = belvedere("webhook", "create", name).out.partition(": ")[2]
    assert shlex.split(suggested) == ["belvedere", "webhook", "credentials", name]


def test_a_new_task_runs_on_the_only_host(belvedere: Belvedere, server: FakeServer) -> None:
    host = cli_records.host()
    server.on("GET", "/host", [host])
    server.on("GET", "/task", [])
    server.on("POST", "/task", cli_records.task())
    assert belvedere("task", "create", "x").status == 0
    assert server.asked[-1].body["host_id"] == host["id"]


def test_a_task_with_the_name_of_another_is_reported(
    belvedere: Belvedere, server: FakeServer
) -> None:
    other = cli_records.task(id="65a0000000000000000000af", hostname="web-2")
    server.on("GET", "/task", [other])
    server.on("GET", "/host", [cli_records.host()])
    server.on("POST", "/task", cli_records.task())
    ran = belvedere("task", "create", "deploy", "--host", "web-1")
    assert ran.status == 0 and "--host web-1" in ran.out
    note = "Another task is named 'deploy' (on web-2). Commands then need --host or an id."
    assert ran.err == f"belvedere: {note}\n"
    assert {"where[name]": "deploy"} in [call.query for call in server.asked]
    server.on("PATCH", f"/task/{cli_records.TASK_ID}", cli_records.task())
    server.on("GET", "/task", [cli_records.task()], [cli_records.task(), other, other])
    ran = belvedere("task", "edit", "deploy", "--name", "deploy")
    assert "2 other tasks are named 'deploy'" in ran.err
    server.on("GET", "/task", [cli_records.task(id=other["id"])])
    ran = belvedere("task", "create", "deploy", "--host", "web-1")
    assert ran.out.endswith(f"belvedere run {cli_records.TASK_ID}\n")
    server.on("GET", "/task", [])
    ran = belvedere("task", "create", "deploy", "--host", "web-1")
    assert (ran.err, "--host" in ran.out) == ("", False)


def test_with_several_hosts_a_new_task_names_one(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/host", [cli_records.host(), cli_records.host(hostname="web-2")])
    ran = belvedere("task", "create", "x")
    assert ran.status == 2
    assert ran.err == "belvedere: The task needs a host: --host HOST. See: belvedere host list\n"
    assert [call.method for call in server.asked] == ["GET"]


@pytest.mark.parametrize("noun", ["task", "monitor"])
def test_an_empty_name_is_sent_and_refused_by_the_server(
    belvedere: Belvedere, server: FakeServer, noun: str
) -> None:
    record = getattr(cli_records, noun)()
    server.on("GET", f"/{noun}", [record])
    server.on("PATCH", f"/{noun}/{record['id']}", record)
    belvedere(noun, "edit", record["name"], "--name", "")
    assert server.asked[-1].body == {"name": ""}
