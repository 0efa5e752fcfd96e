"""`belvedere job list` says when jobs were removed."""

import pytest

import cli_records
from cli.conftest import Belvedere
from fake_server import FakeServer

REMOVED = {"count": 12, "last_date": "2026-03-01T10:00:00.000Z"}
TEXT = "12 older jobs were removed by retention or manually, the last 2026-03-01 10:00:00 UTC ("


@pytest.fixture(autouse=True)
def jobs(server: FakeServer) -> None:
    server.on("GET", "/job", [cli_records.job()])
    server.on("GET", "/host", [])
    server.on("GET", "/task", [cli_records.task()])
    server.on("GET", "/job/removed", REMOVED)


def removed_calls(server: FakeServer) -> list[dict[str, str]]:
    return [call.query for call in server.asked if call.path == "/job/removed"]


def test_the_end_of_the_list_says_how_many_were_removed(
    belvedere: Belvedere, server: FakeServer
) -> None:
    lines = belvedere("job", "list").out.splitlines()
    assert lines[-1].startswith(TEXT)
    belvedere("job", "list", "--task", "deploy")
    assert removed_calls(server) == [{}, {"task": cli_records.TASK_ID}]


@pytest.mark.parametrize("options", ["--open", "--held", "--limit 1", "--json"])
def test_a_list_that_lacks_no_jobs_does_not(
    belvedere: Belvedere, server: FakeServer, options: str
) -> None:
    result = belvedere("job", "list", *options.split())
    assert result.status == 0 and "removed" not in result.out
    assert removed_calls(server) == []


def test_nothing_is_said_if_none_was_removed(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/job/removed", {"count": 0, "last_date": None})
    assert "removed" not in belvedere("job", "list").out
