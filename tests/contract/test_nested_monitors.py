"""/monitor/nested: groups of monitors under TheEye's path."""

from contract.client import Client
from contract.world import World

NESTED = "/acme/monitor/nested"


async def create_push_monitor(ada: Client, name: str) -> str:
    response: str = (await ada.post("/acme/monitor", {"name": name, "type": "push"})).json["id"]
    return response


async def test_a_nested_monitor_is_created(ada: Client, vic: Client) -> None:
    monitor_id, other = (
        await create_push_monitor(ada, "one"),
        await create_push_monitor(ada, "other"),
    )
    response = await ada.post(NESTED, {"name": "both", "monitors": [monitor_id, {"_id": other}]})
    assert (response.status, response.json["type"]) == (200, "nested"), response.body
    path = f"{NESTED}/{response.json['id']}"
    assert (await vic.get(path)).json == (
        await vic.get(f"/acme/monitor/{response.json['id']}")
    ).json
    assert [record["name"] for record in (await vic.get(NESTED)).json] == ["both"]
    changed = await ada.put(path, {"name": "just one", "monitors": [monitor_id]})
    assert (changed.status, changed.json["name"]) == (200, "just one")
    v2 = f"/monitor/nested/{response.json['id']}?customer=acme"
    assert (await ada.delete(v2)).status == 200
    assert (await ada.get(path)).status == 404


async def test_other_monitors_are_not_found(ada: Client) -> None:
    monitor_id = await create_push_monitor(ada, "one")
    for answer in (
        await ada.get(f"{NESTED}/{monitor_id}"),
        await ada.put(f"{NESTED}/{monitor_id}", {"name": "x", "monitors": [monitor_id]}),
        await ada.delete(f"{NESTED}/{monitor_id}"),
    ):
        assert (answer.status, answer.code) == (404, "monitor_not_found")
    assert (await ada.get(NESTED)).json == []


async def test_the_members_of_a_nested_monitor_are_validated(ada: Client, world: World) -> None:
    for members in ([], ["0" * 24], ["x"], "x"):
        assert (await ada.post(NESTED, {"name": "x", "monitors": members})).status == 400
    for who in ("vic", "uma", "max"):
        assert (await world.client(who).post(NESTED, {"name": "x"})).status == 403
