"""docs/explanation/story-of-a-job.md has every file that a reader needs to follow one request."""

import asyncio
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import belvedere
from contract.client import Client
from contract.over_socket import OWN
from contract.world import World

SOURCE = f"{Path(belvedere.__file__).parent}/"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "story-of-a-job.md"
# Files that a call passes through, but that are not needed to understand a job.
PASSED_THROUGH = (
    # The current user, permissions and encrypted values; clock, ids and JSON; transactions.
    *("access/", "base/", "db/", "jobs/permissions.py", "jobs/people/participants.py"),
    # Reading a request and writing a response.
    *("rest/", "server/http/bodies.py", "server/http/compression.py", "jobs/api/request_size.py"),
    *(
        "server/loop_watchdog.py",
        "server/transport/",
        "jobs/queries/result_form.py",
        "jobs/queries/details.py",
    ),
    # The task, its arguments and environment, and what it triggers.
    *("tasks/", "secrets/environment.py", "triggers/store.py", "jobs/lifecycle/job_arguments.py"),
    *("jobs/specs.py", "jobs/starters.py"),
    # Counters and queues that the claim uses; reports that come after the end.
    *("hosts/", "jobs/queues.py", "jobs/tallies.py", "jobs/lifecycle/late_reports.py"),
    # The connection of the agent: limits, uploaded files, monitors that it checks.
    *("monitors/", "server/agents/endpoint.py", "server/agents/message_limits.py"),
    *("server/agents/monitor_sync.py", "server/agents/transfers/uploads.py"),
)


class EnteredFiles:
    """Records the files of all functions that are called, in every thread that starts later."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.is_recording = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if self.is_recording and event == "call":
            path = frame.f_code.co_filename
            if path.startswith(SOURCE) and frame.f_code.co_name != "<module>":
                self.files.add(path.removeprefix(SOURCE))


@pytest.fixture(autouse=True)
def recorder() -> Iterator[EnteredFiles]:
    """Before the database is opened: its threads record, too."""
    entered_files = EnteredFiles()
    threading.setprofile(entered_files)
    yield entered_files
    threading.setprofile(None)


@pytest.mark.parametrize("http_transport", [OWN], indirect=True)
async def test_the_page_has_every_file_that_a_request_enters(
    world: World, uma: Client, recorder: EnteredFiles
) -> None:
    task = await world.task()
    async with world.agent() as agent:
        sys.setprofile(recorder)
        recorder.is_recording = True
        request = asyncio.create_task(uma.post("/acme/job?wait_result=true", {"task": task}))
        order = await agent.order()
        await agent.end(order, lastline='["a"]', log='["a"]\n')
        response = await request
        recorder.is_recording = False
        sys.setprofile(None)
    assert response.json["lifecycle"] == "finished"
    page = files_on_page()
    others = {path for path in recorder.files - page if not path.startswith(PASSED_THROUGH)}
    assert others == set(), "Add them to the page, or to PASSED_THROUGH."
    expected = {path for path in page if not path.startswith(("agent/", "db/sqlite/"))}
    assert expected - recorder.files == set(), "A job does not use them any more."


def files_on_page() -> set[str]:
    return set(re.findall(r"^\| \[([a-z_/]+\.py)\]", PAGE.read_text(), re.MULTILINE))
