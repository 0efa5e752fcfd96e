"""Run requests of members: at most 1.5 MiB, more only for a task that takes a file."""

import asyncio
import hashlib
from types import SimpleNamespace
from typing import Any

import pytest

from belvedere.base.text import json_text
from belvedere.jobs.api.create import CreateJob
from belvedere.jobs.api.request_size import MAX_BODY
from belvedere.rest.request import MAX_ON_LOOP
from belvedere.server.routes import ROUTES
from belvedere.workflows.runs_api import RunWorkflow
from contract.client import Client
from contract.world import World

FILE = "data:text/plain;name=a.txt;base64," + "QUJD" * (MAX_BODY // 4)
INPUT_ARGUMENT, FILE_ARGUMENT = {"type": "input", "label": "a"}, {"type": "file", "label": "a"}


def test_every_run_request_has_the_limit_of_run_requests() -> None:
    runs = [route for route in ROUTES if route.body in (CreateJob, RunWorkflow)]
    assert len(runs) == 6 and {route.max_body for route in runs} == {MAX_BODY}


async def test_a_large_run_request_is_refused_without_a_file_argument(
    world: World, ada: Client
) -> None:
    task = await world.task(task_arguments=[INPUT_ARGUMENT])
    body = {"task_arguments": [FILE]}
    for path, named in (
        (f"/acme/task/{task}/job", body),
        (f"/acme/job?task={task}", body),
        ("/acme/job", {**body, "task": task}),
    ):
        refused = await ada.post(path, named)
        assert (refused.status, refused.code) == (413, "too_large")


async def test_a_task_with_a_file_argument_takes_a_large_run_request(
    world: World, ada: Client
) -> None:
    task = await world.task(task_arguments=[FILE_ARGUMENT])
    body = {"task_arguments": [FILE]}
    for path, named in (
        (f"/acme/task/{task}/job", body),
        (f"/acme/job?task={task}", body),
        ("/acme/job", {**body, "task": task}),
    ):
        assert (await ada.post(path, named)).status == 200


async def test_another_task_with_a_file_does_not_raise_the_limit(world: World, ada: Client) -> None:
    """Only the body names the task, so it is read; then its own limit holds."""
    await world.task(task_arguments=[FILE_ARGUMENT])
    task = await world.task(task_arguments=[INPUT_ARGUMENT])
    refused = await ada.post("/acme/job", {"task": task, "task_arguments": [FILE]})
    assert (refused.status, refused.code) == (413, "too_large")


async def test_a_task_of_another_organization_does_not_raise_the_limit(
    world: World, eve: Client
) -> None:
    task = await world.task(task_arguments=[FILE_ARGUMENT])
    for path in (f"/globex/task/{task}/job", f"/globex/job?task={task}", "/globex/job"):
        refused = await eve.post(path, {"task": task, "task_arguments": [FILE]})
        assert (refused.status, refused.code) == (413, "too_large")


async def test_a_workflow_takes_a_large_run_request_only_for_a_file(
    world: World, ada: Client
) -> None:
    for argument, status in ((INPUT_ARGUMENT, 413), (FILE_ARGUMENT, 200)):
        task = await world.task(task_arguments=[argument])
        nodes = {"nodes": [{"id": "a", "task_id": task}], "edges": []}
        body = {"name": f"w{status}", "graph": nodes, "start": "a"}
        workflow = (await ada.post("/acme/workflows", body)).json["id"]
        ran = await ada.post(f"/acme/workflows/{workflow}/job", {"task_arguments": [FILE]})
        assert ran.status == status


async def test_the_digest_of_a_large_request_is_computed_in_a_thread(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.task(task_arguments=[FILE_ARGUMENT])
    on_loop: list[int] = []

    def sha256(data: bytes = b"") -> Any:
        try:
            asyncio.get_running_loop()
            on_loop.append(len(data))
        except RuntimeError:
            pass
        return hashlib.new("sha256", data)

    monkeypatch.setattr("belvedere.jobs.api.run_requests.hashlib", SimpleNamespace(sha256=sha256))
    path, body = f"/acme/task/{task}/job", {"task_arguments": [FILE]}
    headers = {"idempotency-key": "k"}
    response = await ada.post(path, body, headers=headers)
    assert response.status == 200 and max(on_loop, default=0) <= MAX_ON_LOOP
    again = await ada.post(path, body, headers=headers)
    assert again.json["id"] == response.json["id"]
    changed = {"task_arguments": [json_text.compact(FILE)]}
    assert (await ada.post(path, changed, headers=headers)).status == 422
