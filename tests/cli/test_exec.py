"""`belvedere exec`: arguments, hosts, output by host, and one exit status for all."""

import json
from typing import Any

import pytest

import cli_records
from belvedere.client import event_stream
from cli.conftest import Belvedere
from fake_server import FakeServer, stream

IDS = [f"65a0000000000000000002{n:02x}" for n in range(3)]
END = ("end", "{}", "99")


@pytest.fixture(autouse=True)
def no_retry_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "FIRST_RETRY_WAIT_S", 0)


def jobs(server: FakeServer, *ends: tuple[str, str, int, list[str]]) -> None:
    """(hostname, state, code, pieces of output) for each."""
    items = []
    for job_id, (hostname, state, code, pieces) in zip(IDS, ends, strict=False):
        items.append(cli_records.job(id=job_id, hostname=hostname, name="exec uptime"))
        over = cli_records.finished_job(state, code, id=job_id, hostname=hostname)
        server.on("GET", f"/job/{job_id}", over)
        actual_items = [("output", json.dumps(text), str(n)) for n, text in enumerate(pieces)]
        server.on("GET", f"/job/{job_id}/log", stream(*actual_items, END))
    server.on("POST", "/exec", {"jobs": items})


def test_a_command_prints_the_output_of_each_host(belvedere: Belvedere, server: FakeServer) -> None:
    jobs(
        server,
        ("web-1", "normal", 0, ["up 3", " days\nno", "body\n"]),
        ("db", "normal", 0, ["up"]),
    )
    ran = belvedere("exec", "--tag", "web", "--host", "db", "--", "uptime", "-p")
    assert ran.status == 0
    assert sorted(ran.out.splitlines()) == ["db    | up", "web-1 | nobody", "web-1 | up 3 days"]
    body = {"command": ["uptime", "-p"], "hosts": ["db"], "tags": ["web"]}
    assert server.bodies("POST", "/exec") == [body]
    assert "web-1: job" in ran.err and "ended: normal" in ran.err


def test_output_of_one_host_has_no_prefix(belvedere: Belvedere, server: FakeServer) -> None:
    jobs(server, ("web-1", "normal", 0, ["a\n", "b\n"]))
    assert belvedere("exec", "--host", "web-1", "--", "ls").out == "a\nb\n"


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ([("normal", 0), ("success", 0)], 0),
        ([("normal", 0), ("failure", 3)], 3),
        ([("failure", 3), ("failure", 3)], 3),
        ([("failure", 3), ("failure", 4)], 1),
        ([("normal", 0), ("timeout", 143)], 124),
        ([("lost", 0), ("lost", 0)], 125),
    ],
)
def test_the_status_is_that_of_those_that_failed(
    belvedere: Belvedere, server: FakeServer, ends: list[tuple[str, int]], status: int
) -> None:
    jobs(server, *((f"h{n}", state, code, []) for n, (state, code) in enumerate(ends)))
    assert belvedere("exec", "--tag", "web", "--", "x").status == status


def test_a_shell_reads_the_words_only_with_the_option(
    belvedere: Belvedere, server: FakeServer
) -> None:
    jobs(server, ("web-1", "normal", 0, []))
    belvedere("exec", "--host", "web-1", "--shell", "--timeout", "5m", "--", "df -h |", "head")
    (body,) = server.bodies("POST", "/exec")
    assert body["command"] == ["sh", "-c", "df -h | head"] and body["timeout"] == 300_000


def test_a_detached_command_is_not_waited_for(belvedere: Belvedere, server: FakeServer) -> None:
    jobs(server, ("web-1", "normal", 0, ["x\n"]))
    ran = belvedere("exec", "--host", "web-1", "--detach", "--", "reboot")
    assert ran.status == 0 and ran.out == f"web-1: job {IDS[0]} is ready.\n"


def test_json_is_alone_on_standard_output(belvedere: Belvedere, server: FakeServer) -> None:
    jobs(server, ("web-1", "normal", 0, ["x\n"]))
    ran = belvedere("exec", "--host", "web-1", "--json", "--", "x")
    record: Any = json.loads(ran.out)
    assert record["jobs"][0]["state"] == "normal" and "x\n" in ran.err


@pytest.mark.parametrize("words", [("--host", "web-1"), ("--", "uptime")])
def test_command_and_hosts_are_required(
    belvedere: Belvedere, server: FakeServer, words: tuple[str, ...]
) -> None:
    assert belvedere("exec", *words).status == 2
    assert server.bodies("POST", "/exec") == []


def test_a_host_is_tagged(belvedere: Belvedere, server: FakeServer) -> None:
    path = f"/host/{cli_records.HOST_ID}"
    host = {"id": cli_records.HOST_ID, "hostname": "web-1", "tags": ["web", "green"]}
    server.on("GET", "/host", [host])
    server.on("PATCH", path, {**host, "tags": ["web", "blue"]})
    ran = belvedere("host", "tag", "web-1", "blue", "web", "--remove", "green")
    assert server.bodies("PATCH", path) == [{"tags": ["web", "blue"]}]
    assert ran.out == "web-1: web, blue\n"
    belvedere("host", "tag", "web-1", "only", "--only")
    assert server.bodies("PATCH", path)[-1] == {"tags": ["only"]}
