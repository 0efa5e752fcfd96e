from contract.client import Client
from contract.world import World


async def test_it_works(world: World, ada: Client) -> None:
    task = world.task()
    async with world.agent() as agent:
        made = await ada.post("/job?customer=acme", {"task": task, "task_arguments": []})
        assert made.status == 200, made.body
        order = await agent.order()
        await agent.end(order, log="hi\n", lastline="hi")
        shown = await ada.get(f"/acme/job/{made.json['id']}")
        print(shown.json)
        assert shown.json["state"] == "normal"
