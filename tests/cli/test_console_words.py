"""States and kinds have the same words in the command line and in the console."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from belvedere.cli.framework import words
from belvedere.cli.jobs import job_rendering
from belvedere.cli.monitoring.monitor import state_cell
from belvedere.monitors.model import SERVICE_TYPES, TYPE_TITLES
from belvedere.schedules.model import Reason
from belvedere.webhooks.model import CallAuthorization

CONSOLE = Path(__file__).parents[2] / "web/src"


def console_words(path: str, start: str) -> dict[str, str]:
    """The English entries of a catalogue, from the first one after `start`."""
    text = (CONSOLE / path).read_text().split(start, 1)[1]
    block = text[text.index("{") + 1 : text.index("}")]
    return dict(re.findall(r"(\w+): '([^']*)'", block))


@pytest.mark.parametrize(
    ("table", "path", "start"),
    [
        (words.JOB_STATES, "lib/state.ts", "useJobWords"),
        (words.HOST_STATES, "ui/monitoring/text.ts", "hostStates"),
        (TYPE_TITLES, "ui/monitoring/text.ts", "kinds"),
        (words.TASK_KINDS, "pages/tasks/text.ts", "types"),
        (words.ORIGINS, "ui/job/text.ts", "origins"),
    ],
)
def test_the_console_has_the_same_words(table: dict[str, str], path: str, start: str) -> None:
    assert console_words(path, start) == table


@pytest.mark.parametrize(
    ("values", "path", "start"),
    [
        (CallAuthorization, "pages/webhooks/text.ts", "accessMethods"),
        (Reason, "pages/schedules/text.ts", "reasons"),
    ],
)
def test_the_console_has_a_word_for_every_value(
    values: type[StrEnum], path: str, start: str
) -> None:
    assert set(console_words(path, start)) == set(values)


def test_the_console_has_the_same_words_for_monitors() -> None:
    """Besides the entry for what the record of a monitor does not say."""
    expected = console_words("lib/state.ts", "useMonitorWords")
    assert {"hostDown"} == expected.keys() - words.MONITOR_STATES.keys()
    assert expected | words.MONITOR_STATES == expected


def test_the_help_has_the_words_of_the_console_for_types() -> None:
    titles = {"script": "Script", "scraper": "Web request", "dummy": "Input"}
    expected = "the type (default script); in the console: Web request (scraper), Input (dummy)"
    assert words.type_help("script", titles) == expected


def test_services_are_the_same_kinds() -> None:
    text = (CONSOLE / "lib/state.ts").read_text().split("SERVICE_KINDS = new Set(", 1)[1]
    assert set(re.findall(r"'(\w+)'", text[: text.index(")")])) == SERVICE_TYPES


@pytest.mark.parametrize(
    ("lifecycle", "state", "expected"),
    [
        ("finished", "failure", "✗ Failed"),
        ("canceled", "canceled", "- Canceled"),
        ("onhold", "in_progress", "○ Waiting for a person"),
        ("assigned", "in_progress", "● Running"),
        ("terminated", "timeout", "⧗ Timed out"),
        ("finished", "custom", "custom"),
    ],
)
def test_the_state_of_a_job(lifecycle: str, state: str, expected: str) -> None:
    assert words.job_state({"lifecycle": lifecycle, "state": state}).plain == expected


def test_a_job_whose_host_does_not_respond() -> None:
    job = {"lifecycle": "assigned", "state": "in_progress", "unreachable_since": "2026-01-01"}
    assert words.job_state(job).plain == "✗ Host not responding"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"state": "failure"}, "✗ Down"),
        ({"state": "failure", "type": "push"}, "✗ Failing"),
        ({"state": "failure", "failure_severity": "LOW"}, "✗ Warning"),
        ({"state": "updates_stopped"}, "⧗ Not reporting"),
        ({"state": "normal", "enable": False}, "- Paused"),
        ({"state": "normal", "stale": True}, "- Silent"),
    ],
)
def test_the_state_of_a_monitor(fields: dict[str, Any], expected: str) -> None:
    monitor = {"type": "scraper", "failure_severity": "HIGH", "enable": True, "paused_until": None}
    assert state_cell(monitor | fields).plain == expected


def job(**fields: Any) -> dict[str, Any]:
    person = {"id": "1", "email": "", "username": ""}
    return {"origin": "user", "user": person, "started_by": None, **fields}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            job(started_by={"kind": "webhook", "id": "2", "name": "crm-export"}),
            "webhook crm-export",
        ),
        (job(started_by={"kind": "schedule", "id": "2", "name": "nightly"}), "schedule nightly"),
        (job(started_by={"kind": "token", "id": "2", "name": ""}), "token"),
        (job(user={"id": "1", "email": "ada@example.org", "username": "ada"}), "ada@example.org"),
        (job(origin="trigger_by"), "trigger"),
    ],
)
def test_the_cause_of_a_job_is_shown(record: dict[str, Any], expected: str) -> None:
    assert words.job_starter(record) == expected


def test_the_list_of_jobs_names_state_and_starter(capsys: pytest.CaptureFixture[str]) -> None:
    record = job(
        id="01a1eca2c8923d9117a420c0",
        lifecycle="finished",
        state="failure",
        name="Export",
        hostname="web-1",
        creation_date="2026-01-01T00:00:00.000Z",
        started_by={"kind": "schedule", "id": "2", "name": "nightly"},
    )
    job_rendering.show_jobs({"jobs": [record], "removed": None})
    lines = capsys.readouterr().out.splitlines()
    assert re.split(r"  +", lines[0])[:5] == ["ID", "STATE", "TASK", "HOST", "STARTED BY"]
    assert re.split(r"  +", lines[1])[1:5] == ["✗ Failed", "Export", "web-1", "schedule nightly"]
