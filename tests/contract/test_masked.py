"""Masked arguments and values of environments: in no record, list, event or audit row."""

from typing import Any

from contract.client import Client
from contract.running import create, show
from contract.world import World

CANARY = "canary-7f3a"
HIDDEN = [
    {"type": "input", "label": "name"},
    {"type": "input", "label": "password", "masked": True},
    {"type": "fixed", "label": "key", "masked": True, "value": f"{CANARY}-fixed"},
]


async def everything(world: World, client: Client) -> str:
    """Everything that people can read: records, lists with all they include, events, the audit
    log."""
    include = "&".join(
        f"include[{name}]=1" for name in ("task", "task_arguments_values", "output", "result")
    )
    targets = ["/acme/task", f"/acme/job?{include}&include[attempts]=1", "/api/audit?limit=1000"]
    targets += [f"/acme/job/{job['id']}" for job in (await client.get("/acme/job")).json]
    targets += [f"/acme/task/{job['id']}" for job in (await client.get("/acme/task")).json]
    texts = [(await client.get(target)).text for target in targets]
    text = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    return "\n".join([*texts, str(text)])


async def test_masked_arguments_are_hidden_in_records(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=HIDDEN)
    job = await create(ada, task, ["Ada", CANARY])
    assert job["task_arguments_values"] == ["Ada", "***", "***"]
    assert job["task"]["task_arguments"][2]["value"] == "***"
    assert (await show(ada, job["id"]))["task_arguments_values"] == ["Ada", "***", "***"]
    async with world.agent() as agent:
        order = await agent.order()
        assert order.arguments == ["Ada", CANARY, f"{CANARY}-fixed"]
        await agent.end(order)
    assert CANARY not in await everything(world, ada)


async def test_a_restart_keeps_them_hidden(world: World, ada: Client) -> None:
    job = await create(ada, await world.task(task_arguments=HIDDEN), ["Ada", CANARY])
    await ada.put(f"/acme/job/{job['id']}/cancel")
    again = await ada.put(f"/acme/job/{job['id']}/restart", {})
    assert again.json["task_arguments_values"] == ["Ada", "***", "***"]
    async with world.agent() as agent:
        assert (await agent.order()).arguments[1] == CANARY
    assert CANARY not in await everything(world, ada)


async def test_masked_values_passed_on_by_a_dummy_are_hidden(
    world: World, ada: Client, uma: Client
) -> None:
    job = await create(uma, await world.task(type="dummy", task_arguments=HIDDEN), ["U", CANARY])
    assert job["output"] == ["U", "***", "***"]
    assert (await show(uma, job["id"]))["output"] == ["U", "***", "***"]
    assert CANARY not in await everything(world, ada)


async def test_masked_values_passed_on_by_an_approval_are_hidden(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task(type="approval", approvers=["vic"], task_arguments=HIDDEN)
    job = await create(uma, task, ["U", CANARY])
    done = await vic.put(f"/acme/job/{job['id']}/approve")
    assert done.json["output"] == ["U", "***", "***"]
    assert CANARY not in await everything(world, ada)


async def test_values_that_are_sent_later_are_masked(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=HIDDEN)
    job = (await ada.post("/acme/job", {"task": task, "lifecycle": "onhold"})).json
    response = await ada.put(f"/acme/job/{job['id']}/input", {"args": ["Ada", CANARY]})
    assert response.json["task_arguments_values"] == ["Ada", "***", "***"]
    assert CANARY not in await everything(world, ada)


async def test_a_refusal_does_not_repeat_them(world: World, ada: Client) -> None:
    definitions = [{"type": "boolean", "label": "b", "masked": True}]
    refused = await ada.post(
        "/acme/job",
        {"task": await world.task(task_arguments=definitions), "task_arguments": [CANARY]},
    )
    assert refused.status == 400
    assert CANARY not in refused.text


async def test_masked_values_cannot_be_found_by_filters(world: World, ada: Client) -> None:
    job = await create(ada, await world.task(task_arguments=HIDDEN), ["Ada", CANARY])
    items = [("0", "Ada"), ("1", "***"), ("2", "***")]
    for n, value in items:
        response = await ada.get(f"/acme/job?where[task_arguments_values.{n}]={value}")
        assert [record["id"] for record in response.json] == [job["id"]]
    for question in (f"[1]={CANARY}", "[1][$gt]=b", f"[1][$in][]={CANARY}", "[2][$gte]=canary"):
        n, rest = question[1], question[3:]
        response = await ada.get(f"/acme/job?where[task_arguments_values.{n}]{rest}")
        assert response.json == []


async def test_the_environment_is_for_those_who_edit(
    world: World, ada: Client, uma: Client
) -> None:
    task = await world.task(env={"PASSWORD": CANARY})
    assert (await ada.get(f"/acme/task/{task}")).json["env"] == {"PASSWORD": CANARY}
    record: Any = (await uma.get(f"/acme/task/{task}")).json
    assert record["env"] == {}
    await ada.patch(f"/acme/task/{task}", {"env": {"PASSWORD": f"{CANARY}-2"}})
    assert CANARY not in (await ada.get("/api/audit?limit=1000")).text


async def test_editing_a_task_keeps_its_hidden_values(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=HIDDEN)
    record = (await ada.get(f"/acme/task/{task}")).json
    await ada.put(f"/acme/task/{task}", {**record, "description": "new"})
    async with world.agent() as agent:
        await create(ada, task, ["Ada", "x"])
        assert (await agent.order()).arguments[2] == f"{CANARY}-fixed"
