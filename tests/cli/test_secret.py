"""`belvedere secret`: the value is read from standard input and shown nowhere."""

from typing import Any

import pytest

import cli_records
from cli.conftest import Belvedere
from fake_server import FakeServer

CANARY = "hush-hush"


def record(**other: Any) -> dict[str, Any]:
    return {
        "name": "API_KEY",
        "secret": True,
        "task_id": None,
        "description": "of the shop",
        "updated_by": "ada@acme.example",
        "last_update": "2026-03-01T10:00:00.000Z",
        **other,
    }


@pytest.fixture(autouse=True)
def answers(server: FakeServer) -> None:
    server.on("GET", "/task", [cli_records.task()])
    server.on("GET", "/secret", [record(), record(name="REGION", secret=False, value="eu")])
    server.on("PUT", "/secret/API_KEY", record())
    server.on("DELETE", "/secret/API_KEY", record(task_id=cli_records.TASK_ID))


def test_a_secret_is_set_from_standard_input(belvedere: Belvedere, server: FakeServer) -> None:
    ran = belvedere("secret", "set", "API_KEY", stdin=f"{CANARY}\n")
    assert (ran.status, ran.out) == (0, "Secret API_KEY is set.\n")
    assert server.asked[-1].body == {"value": CANARY, "secret": True}


def test_a_value_of_many_lines_is_sent_completely(belvedere: Belvedere, server: FakeServer) -> None:
    words = ("--variable", "--task", "deploy", "--description", "x")
    assert belvedere("secret", "set", "API_KEY", *words, stdin="a\nb\n\n").status == 0
    assert server.asked[-1].body == {
        "value": "a\nb\n",
        "secret": False,
        "task_id": cli_records.TASK_ID,
        "description": "x",
    }


def test_no_value_is_a_word_of_the_command_line(belvedere: Belvedere) -> None:
    ran = belvedere("secret", "set", "API_KEY", CANARY)
    assert ran.status == 2


def test_the_list_hides_secrets(belvedere: Belvedere, server: FakeServer) -> None:
    ran = belvedere("secret", "list", "--task", "deploy")
    assert "API_KEY" in ran.out and "***" in ran.out and "eu" in ran.out
    assert server.asked[-1].query == {"where[task_id]": cli_records.TASK_ID}


def test_setting_a_secret_of_a_task_prints_the_name_of_the_task(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("PUT", "/secret/API_KEY", record(task_id=cli_records.TASK_ID))
    ran = belvedere("secret", "set", "API_KEY", "--task", "deploy", stdin="x\n")
    assert ran.out == "Secret API_KEY is set for the task deploy.\n"


def test_the_list_names_the_task_of_a_secret(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/secret", [record(task_id=cli_records.TASK_ID)])
    ran = belvedere("secret", "list")
    assert "deploy" in ran.out and cli_records.TASK_ID not in ran.out


def test_a_secret_of_a_task_is_deleted(belvedere: Belvedere, server: FakeServer) -> None:
    ran = belvedere("secret", "delete", "API_KEY", "--task", "deploy")
    assert ran.out == "Secret API_KEY deleted for the task deploy.\n"
    assert server.asked[-1].query == {"task_id": cli_records.TASK_ID}
