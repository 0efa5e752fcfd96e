"""Steps of many tests: create a job, let the agent run it, let consumers process its events."""

from typing import Any

from belvedere.server.background import consumers
from belvedere.server.runtime import ServerRuntime
from contract.client import Client, Response
from contract.fakeagent import FakeAgent


async def create(client: Client, task: str, arguments: list[Any] | None = None) -> dict[str, Any]:
    body = {"task": task, "task_arguments": arguments or []}
    response = await client.post("/job?customer=acme", body)
    assert response.status == 200, response.body
    job: dict[str, Any] = response.json
    return job


async def run(client: Client, agent: FakeAgent, task: str, **report: Any) -> dict[str, Any]:
    """A job of this task that ended in this state; its record."""
    job = await create(client, task)
    await agent.end(await agent.order(), **report)
    return await show(client, job["id"])


async def show(client: Client, job_id: str) -> dict[str, Any]:
    response: Response = await client.get(f"/acme/job/{job_id}")
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def process_events(runtime: ServerRuntime) -> None:
    """Let every event consumer process the events so far, as a running server does."""
    for consumer in consumers.active(has_redis=runtime.redis is not None):
        await consumers.catch_up(consumer, runtime)
