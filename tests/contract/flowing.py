"""Steps of tests about workflows: create one, run it, run the event consumer."""

from typing import Any

from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.test_triggers import react
from contract.world import World


async def create_workflow(world: World, ada: Client, **fields: Any) -> dict[str, Any]:
    """A workflow of acme, a then b, that everybody may see; other fields as given."""
    if "graph" not in fields:
        tasks = [await world.task(name) for name in ("a", "b")]
        fields["graph"] = {
            "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
            "edges": [{"source": "a", "target": "b"}],
        }
    body = {"name": "release", "acl": ["uma", "vic", "max"], **fields}
    answer = await ada.post("/acme/workflows", body)
    assert answer.status == 200, answer.body
    record: dict[str, Any] = answer.json
    return record


async def run(client: Client, flow: dict[str, Any], *given: Any) -> dict[str, Any]:
    answer = await client.post(f"/acme/workflows/{flow['id']}/job", {"task_arguments": given})
    assert answer.status == 200, answer.body
    record: dict[str, Any] = answer.json
    return record


async def step(world: World, agent: FakeAgent, **report: Any) -> None:
    """The agent ends its next job, and the workflow continues."""
    await agent.end(await agent.order(), **report)
    await react(world)


async def secret_of(ada: Client, flow: dict[str, Any]) -> str:
    response: str = (await ada.get(f"/acme/workflows/{flow['id']}/credentials")).json["secret"]
    return response
