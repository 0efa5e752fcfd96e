"""The record of a job names what started it."""

from contract.client import Client
from contract.test_triggers import react
from contract.world import World


async def test_a_job_names_its_webhook_token_or_task(world: World, ada: Client) -> None:
    task_id = await world.task("Sync", type="dummy")
    body = {"task": task_id, "task_arguments": []}
    by_person = (await ada.post("/job", body)).json
    assert by_person["started_by"] is None
    by_token = (await world.client("token").post("/job", body)).json
    assert by_token["started_by"]["kind"] == "token"
    assert by_token["started_by"]["name"] == by_token["user"]["username"]
    hook = (await ada.post("/webhook", {"name": "crm export", "tasks": [task_id]})).json
    called = (await ada.post(f"/webhook/{hook['id']}/trigger", [])).json
    expected = {"kind": "webhook", "id": hook["id"], "name": "crm export"}
    listed = (await world.client("vic").get("/job?limit=1")).json[0]
    assert (listed["id"], listed["started_by"]) == (called["jobs"][0]["id"], expected)


async def test_the_name_of_a_hidden_task_is_not_revealed(world: World, ada: Client) -> None:
    hidden = await world.task("Hidden", type="dummy", acl=[])
    task_id = await world.task("Seen", type="dummy", triggers=[f"task:{hidden}:success"])
    await ada.post("/job", {"task": hidden, "task_arguments": []})
    await react(world)
    target = f"/job?where[task_id]={task_id}"
    for who, name in (("max", "Hidden"), ("vic", "")):
        [job] = (await world.client(who).get(target)).json
        assert job["started_by"] == {"kind": "task", "id": hidden, "name": name}
        assert (await world.client(who).get(f"/job/{job['id']}")).json["started_by"]["name"] == name
